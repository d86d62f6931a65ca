#!/bin/sh
# Tests arms that are pods: in the cluster that $KUBECONFIG names, of which this
# host is a node, or in one that is brought up for it and taken down again. Its
# arguments are packages and flags of go test.
set -eu
export CGO_ENABLED=0
cluster=${TARETEST_CLUSTER:-/var/lib/tare-cluster}
work=$(mktemp -d)
mkdir "$work/tmp"
chmod 755 "$work" "$work/tmp" # for tests of ordinary users
own=

# end takes back what runs left that were ended in their tests, before the cluster
# goes, and says what the parts of the cluster had to say where the tests failed.
end() {
	status=$?
	trap '' INT TERM
	mkdir "$work/state"
	find "$work/tmp" -type d -name journal | while read -r journal; do
		ln -sfn "${journal%/journal}" "$work/state/tare"
		XDG_STATE_HOME=$work/state timeout -k 5 30 "$work/tare" cleanup || true
	done
	if [ "$own" ]; then
		if [ $status != 0 ]; then
			for part in kubelet kubelet-2 kube-apiserver containerd; do
				echo "== the end of $part.log"
				grep -v '^I' "$cluster/log/$part.log" | tail -n 15 | cut -c 1-400
			done
		fi
		go -C tools/cluster run . down
	fi
	rm -rf "$work"
	exit $status
}
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

go build -o "$work/tare" ./cmd/tare
if [ -z "${KUBECONFIG:-}" ]; then
	sh tools/deps.sh cluster
	[ -d "$cluster" ] || own=yes
	go -C tools/cluster run . up -cpu-manager static -nodes 2
	eval "$(go -C tools/cluster run . env)"
fi
# The binary of the tests is what the pods execute: it must be static. One package
# after the other, for a pod takes all CPUs that are left.
export TMPDIR="$work/tmp"
TARETEST_TIER=cluster ${GOTEST:-go test} -p 1 -count=1 -v -timeout 20m "$@"
