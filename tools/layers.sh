#!/bin/sh
# Checks the layers of .depguard.yaml. depguard checks nothing, and does not fail, when it cannot
# read its configuration: that is an error here.
set -eu
out=$(go tool -modfile=tools/go.mod depguard ./... 2>&1) && ok=1 || ok=0
case $out in *"configuration file"*) ok=0 ;; esac
[ -z "$out" ] || printf '%s\n' "$out"
[ "$ok" = 1 ]
# The contract of arms, planning and the format of the journal link no package of Kubernetes, also
# not through other packages.
linked=$(go list -deps ./internal/arms/environment ./internal/planning/plan ./internal/planning/experiment ./internal/undo/journal ./internal/host/isolation ./internal/undo/hostlock | grep '^k8s\.io/' | grep -v '^k8s\.io/utils/' || true)
if [ -n "$linked" ]; then
	printf '%s\n' "$linked"
	echo "the contract of arms, plan, experiment, journal, isolation and hostlock link packages of Kubernetes; only internal/outside and internal/arms/pods may"
	exit 1
fi
# Code in init() runs before main, where no reader of main sees it.
if grep -rnE '^func init\(\)' --include='*.go' cmd internal record; then
	echo "a function that is called, or the value of a variable, instead of init()"
	exit 1
fi
# Variables that begin with TARE_ are those that tare itself, or a script of its packages, reads.
if grep -rnE '\bTARE_[A-Z]' Makefile tools .ci || grep -rnE 'env\("TARE_[A-Z]' --include='*_test.go' cmd internal record; then
	echo "a variable that only tests read begins with TARETEST_"
	exit 1
fi
