#!/bin/sh
# go test for .ci/run ($GOTEST): a failed test runs once more, alone, and fails if it fails again. The
# failures are printed again at the end. A test binary that crashed or had a data race does not run
# again. A test that passed the second time is a fault to find: its name and the commit go to the file
# $TARETEST_FLAKY.
set -eu
packages='' format=standard-quiet
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
report=$work/report
touch "$report"
# The tests may be those of another architecture.
env -u GOARCH go build -modfile=tools/go.mod -o "$work/gotestsum" gotest.tools/gotestsum
for arg; do # separate packages from flags
	shift
	case $arg in
	./*) packages="$packages $arg" && continue ;;
	-v) format=standard-verbose ;;
	esac
	set -- "$@" "$arg"
done
status=0
"$work/gotestsum" --format $format --no-color --hide-summary skipped \
	--rerun-fails=1 --rerun-fails-run-root-test --rerun-fails-abort-on-data-race --rerun-fails-report "$report" --packages "${packages# }" -- "$@" || status=$?
[ -z "${TARETEST_FLAKY:-}" ] || sed "s/^/$(git rev-parse --short HEAD) /" "$report" >>"$TARETEST_FLAKY"
exit $status
