#!/bin/sh
# Runs every fuzz target of the module, one after the other, for the given time.
# Shrinking an input that only reaches new code is cut short: by default it takes
# a minute for each, which is most of the time.
set -eu
time=${1:-20s}
go list ./... | while read -r pkg; do
	for target in $(go test -list '^Fuzz' "$pkg" | grep '^Fuzz' || true); do
		echo "$pkg $target"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 50x "$pkg"
	done
done
