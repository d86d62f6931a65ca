#!/bin/sh
# Holds the layers of .depguard.yaml, and makes sure that the linter read it: it
# goes on with no rules at all when it cannot.
set -eu
out=$(go tool -modfile=tools/go.mod depguard ./... 2>&1) && ok=1 || ok=0
case $out in *"configuration file"*) ok=0 ;; esac
[ -z "$out" ] || printf '%s\n' "$out"
[ "$ok" = 1 ]
# Who decides what to measure, and the contract of arms, work where Kubernetes is of no concern:
# they link none of its packages, by no detour.
linked=$(go list -deps ./internal/arms/environment ./internal/planning/plan ./internal/planning/experiment ./internal/undo/journal ./internal/host/isolation ./internal/undo/hostlock | grep '^k8s\.io/' | grep -v '^k8s\.io/utils/' || true)
if [ -n "$linked" ]; then
	printf '%s\n' "$linked"
	echo "the contract of arms, plan, experiment, journal, isolation and hostlock link packages of Kubernetes; environment/kube and internal/outside/kube may"
	exit 1
fi
# What runs before main is seen by nobody who reads main.
if grep -rnE '^func init\(\)' --include='*.go' cmd internal record; then
	echo "a function that is called, or the value of a variable, instead of init()"
	exit 1
fi
# TARE_ begins the names that tare itself reads.
if grep -rnE '\bTARE_[A-Z]' Makefile tools .ci || grep -rnE 'env\("TARE_[A-Z]' --include='*_test.go' cmd internal record; then
	echo "a variable that only tests read begins with TARETEST_"
	exit 1
fi
