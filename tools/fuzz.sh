#!/bin/sh
# Runs every fuzz target of the module, one after the other, for the given time or
# number of executions.
# Shrinking an input that only reaches new code is cut short: by default it takes
# a minute for each, which is most of the time.
set -eu
time=${1:-20s}
out=$(mktemp)
trap 'rm -f "$out"' EXIT

# Before Go 1.27 the end of the time is now and then taken for a failure, with no
# input named (go.dev/issue/75804); a number of executions (5000x) has no such end.
# Whatever names an input, or fails otherwise, is a failure.
only_time() {
	grep -q '^ *context deadline exceeded$' "$out" && ! grep -q -e 'Failing input' -e '^ *panic:' "$out"
}

# Only packages that have targets are built: asking each with go test -list builds
# the tests of all.
dirs=$(grep -rl '^func Fuzz' --include='*_test.go' cmd internal record | xargs -n 1 dirname | sort -u)
[ -n "$dirs" ] || { echo "no fuzz target was found"; exit 1; }
for dir in $dirs; do
	grep -h '^func Fuzz' "$dir"/*_test.go | sed 's/^func \(Fuzz[A-Za-z0-9_]*\).*/\1/' | while read -r target; do
		echo "$dir $target"
		if ! go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 50x "./$dir" >"$out" 2>&1 </dev/null; then
			cat "$out"
			only_time || exit 1
			echo "only the time was over: no failure"
		else
			tail -n 1 "$out"
		fi
	done || exit 1
done
