#!/bin/sh
# Runs every fuzz target of the module, one after the other, each for the given time or number of
# executions. Minimizing an input that only reaches new code gets 50 executions instead of a minute,
# which would be most of the time.
set -eu
dirs=$(grep -rl '^func Fuzz' --include='*_test.go' cmd internal record | xargs -n 1 dirname | sort -u)
[ -n "$dirs" ] || { echo "no fuzz target was found"; exit 1; }
time=${1:-20s}
out=$(mktemp)
bin=$(mktemp)
trap 'rm -f "$out" "$bin"' EXIT
module=$(go list -m)
corpus=$(go env GOCACHE)/fuzz

# Before Go 1.27 the end of the fuzzing time is sometimes reported as a failure without an input
# (go.dev/issue/75804), but not the end of a number of executions (5000x). only_time is true for that
# report alone.
only_time() {
	grep -q '^ *context deadline exceeded$' "$out" && ! grep -q -e 'Failing input' -e '^ *panic:' "$out"
}

# build compiles the tests of a package once for all its targets. Only tare's packages have coverage
# counters: go test -fuzz would compile all dependencies again, with counters.
build() {
	go test -c -gcflags="$module/...=-d=libfuzzer" -o "$bin" "./$1"
}

# fuzz runs a target in the directory of the package, which has its seeds.
fuzz() {
	(cd "$1" && "$bin" -test.run '^$' -test.fuzz "^$2\$" -test.fuzztime "$time" -test.fuzzminimizetime 50x \
		-test.fuzzcachedir "$corpus/$module/$1") >"$out" 2>&1 </dev/null
}

for dir in $dirs; do
	build "$dir"
	for target in $(cat "$dir"/*_test.go | sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\).*/\1/p'); do
		echo "$dir $target"
		if ! fuzz "$dir" "$target"; then
			cat "$out"
			only_time || exit 1
			echo "only the time was over: no failure"
		elif grep -q 'without coverage guidance' "$out"; then
			cat "$out"
			echo "the test binary has no counters of coverage"
			exit 1
		else
			grep 'execs:' "$out" | tail -n 1
		fi
	done
done
