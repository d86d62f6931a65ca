#!/bin/sh
# Runs the tests in tools/race.txt with the race detector, one package after the other, because the
# detector uses all CPUs and some tests measure. It is an error if a package with goroutines or
# atomics has tests and is not in the list. With -n it only checks the list. Without
# inlining and DWARF compiling takes a third less time.
set -eu
list=tools/race.txt
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
