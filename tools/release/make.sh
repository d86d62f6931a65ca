#!/bin/sh
# Writes a release into dist/: make release VERSION=v0.1.0. The same commit gives the same bytes, in any directory and
# at any time: binaries without paths and without a build ID of their own, every time that of the commit. $HOME_URL is
# the address of the project, $OUT another directory.
set -eu
cd "$(dirname "$0")/../.."
version=${1:-}
refuse() {
	printf 'make release: %s\nhint: %s\n' "$1" "$2" >&2
	exit 2
}
echo "$version" | grep -Eqx 'v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.]+)?' ||
	refuse "VERSION is \"$version\"" 'make release VERSION=v0.1.0'
commit=$(git rev-parse HEAD 2>/dev/null) || refuse 'this is no clone of the repository' 'git clone, then make release'
epoch=$(git log -1 --format=%ct)
if [ -n "$(git status --porcelain)" ]; then
	echo 'make release: the tree differs from its commit, and the version will say so' >&2
	commit=$commit+changes
fi
out=${OUT:-dist}
rm -rf "$out"
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

unset GOFLAGS GOAMD64 GOARM64 GOEXPERIMENT GODEBUG
export CGO_ENABLED=0 GOOS=linux
cli=github.com/tarelab/tare/internal/cli
# Without inlining the binary is smaller by 2 MiB. The packages that run in windows have it.
set -- -gcflags=all=-l
tare=github.com/tarelab/tare/internal
for package in runtime/... internal/... sync/... math/... bytes strings slices maps sort strconv unicode/... hash/... encoding/binary \
	encoding/base64 encoding/hex bufio io errors time cmp container/... iter reflect os syscall net golang.org/x/sys/... modernc.org/... \
	gonum.org/... github.com/klauspost/... compress/... $tare/loads/... $tare/wire/... $tare/linux/... $tare/host/probe/... \
	$tare/host/window/... $tare/measure/... $tare/stat/... $tare/catalog/bodies/...; do
	set -- "$@" "-gcflags=$package="
done
for arch in amd64 arm64; do
	echo "tare $version for linux/$arch"
	GOARCH=$arch ${GO:-go} build -trimpath -buildvcs=false "$@" -o "$work/$arch/tare" -ldflags "-s -w -buildid= \
		-X github.com/tarelab/tare/internal/base/hint.Home=$HOME_URL \
		-X $cli.releaseVersion=$version -X $cli.releaseCommit=$commit" ./cmd/tare
done
unset GOOS

# Manuals and completions are printed by the binary.
export SOURCE_DATE_EPOCH="$epoch"
mkdir "$work/man" "$work/completions"
tare=$work/$(${GO:-go} env GOARCH)/tare
"$tare" man "$work/man"
for shell in bash zsh fish; do "$tare" completion $shell >"$work/completions/tare.$shell"; done
# Schemas are made of types and comments, by a test.
mkdir "$work/schemas"
${GO:-go} test -trimpath -vet=off -count=1 -ldflags "-X github.com/tarelab/tare/internal/base/hint.Home=$HOME_URL" -run 'TestSchemas$' \
	./internal/cli -args -schemas "$work/schemas" >"$work/said" || { cat "$work/said" >&2; exit 1; }

${GO:-go} -C tools/release run . -version "$version" -commit "$commit" -epoch "$epoch" -home "$HOME_URL" \
	-root "$PWD" -work "$work" -out "$out"
(cd "$out" && ls -l)
