#!/bin/sh
# Runs tests with the race detector: those that tools/race.txt names. A package that
# starts goroutines or uses atomics, has tests and is not named there is an error.
# One package after the other: the detector takes all CPUs, and some tests measure.
# With -n it only looks at the list, with -l it prints the packages. Without functions
# inlined and without what a debugger reads, a third less is compiled.
set -eu
list=tools/race.txt
if [ "${1:-}" = -l ]; then
	sed '/^#/d; s/ .*//' $list
	exit
fi
missing=$(grep -rlE --include='*.go' '^[[:space:]]*go (func|[a-zA-Z_.]+)\(|\.Go\(func|"sync/atomic"' cmd internal record |
	grep -v '_test\.go$' | xargs -n 1 dirname | sort -u | while read -r dir; do
	[ -z "$(find "$dir" -maxdepth 1 -name '*_test.go')" ] || grep -q "^$dir " $list || echo "$dir"
done)
[ -z "$missing" ] || {
	printf '%s does not name these packages, which start goroutines or use atomics:\n%s\n' $list "$missing"
	exit 1
}
while read -r dir tests; do
	case $dir in '' | '#'*) continue ;; esac
	for test in $(echo "$tests" | sed 's/[|/^$().]/ /g'); do
		case $test in Test*) ;; *) continue ;; esac
		grep -rq --include='*_test.go' "^func $test" "$dir" || { echo "$list: $dir has no test $test"; exit 1; }
	done
done <$list
[ "${1:-}" != -n ] || exit 0
while read -r dir tests; do
	case $dir in '' | '#'*) continue ;; esac
	CGO_ENABLED=1 ${GOTEST:-go test} -race -gcflags="all=-l -dwarf=false" -ldflags=-w -vet=off -timeout 20m -run "$tests" "./$dir" </dev/null
done <$list
