#!/bin/sh
# go test, in which a test that fails is run once more, alone, and what failed is told
# once more at the end: what .ci/run has as $GOTEST. What fails twice fails. A binary that
# ended in the middle is not run again, nor is one that had a data race: seen once, it is
# there. A test that passed the second time is a fault to find: its name goes to the file
# $TARETEST_FLAKY, with the commit.
set -eu
packages='' format=standard-quiet
report=$(mktemp)
trap 'rm -f "$report"' EXIT
for arg; do # packages apart from flags
	shift
	case $arg in
	./*) packages="$packages $arg" && continue ;;
	-v) format=standard-verbose ;;
	esac
	set -- "$@" "$arg"
done
status=0
go tool -modfile=tools/go.mod gotestsum --format $format --no-color --hide-summary skipped \
	--rerun-fails=1 --rerun-fails-run-root-test --rerun-fails-abort-on-data-race --rerun-fails-report "$report" --packages "${packages# }" -- "$@" || status=$?
[ -z "${TARETEST_FLAKY:-}" ] || sed "s/^/$(git rev-parse --short HEAD) /" "$report" >>"$TARETEST_FLAKY"
exit $status
