#!/bin/sh
# Runs tests of arms in pods. The cluster is the one of $KUBECONFIG, of which this host must be a node, or
# one that is brought up for the tests and taken down after them. Arguments are packages and flags of
# go test.
set -eu
export CGO_ENABLED=0
cluster=${TARETEST_CLUSTER:-/var/lib/tare-cluster}
work=$(mktemp -d)
mkdir "$work/tmp"
chmod 755 "$work" "$work/tmp" # for tests of ordinary users
own=

# end undoes the steps of runs that tests have killed, before the cluster is taken down, and prints the
# logs of the cluster's parts if a test failed.
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
	[ -z "$own" ] || go -C tools/cluster test .
	go -C tools/cluster run . up -cpu-manager static -nodes 2
	eval "$(go -C tools/cluster run . env)"
fi
# The pods execute the binary of the tests, which must be static. Packages run one after the other,
# because a pod uses all CPUs.
export TMPDIR="$work/tmp"
TARETEST_TIER=cluster ${GOTEST:-go test} -p 1 -count=1 -v -timeout 20m "$@"
