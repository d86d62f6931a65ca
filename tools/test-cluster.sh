#!/bin/sh
# Tests arms that are pods: in the cluster that $KUBECONFIG names, of which this
# host is a node, or in one that is brought up for it and taken down again.
set -eu
export CGO_ENABLED=0
if [ -z "${KUBECONFIG:-}" ]; then
	sh tools/deps.sh cluster
	[ -d "${TARE_CLUSTER:-/var/lib/tare-cluster}" ] || trap 'go -C tools/cluster run . down' EXIT
	go -C tools/cluster run . up -cpu-manager static -nodes 2
	eval "$(go -C tools/cluster run . env)"
fi
# The binary of the tests is what the pods execute: it must be static. One package
# after the other, for a pod takes all CPUs that are left.
TARE_TIER=cluster go test -p 1 -count=1 -v -timeout 30m -run 'TestCluster' ./internal/environment/kube ./cmd/tare
