#!/bin/sh
# Builds the static site of docs/ in dist/site, English at the top and Chinese below zh/: MkDocs with the theme
# Material, in a Python environment of its own that is made once. $HOME_URL is the address that the pages, the $id of
# the schemas and the reports name; file://DIR is one too. Reading the site needs no network and no server. With the
# argument test the built site is also opened in a browser.
set -eu
cd "$(dirname "$0")/.."
out=$PWD/dist/site
work=$PWD/dist/.site
cache=${XDG_CACHE_HOME:-$HOME/.cache}/tare-site
python=$cache/$(sha256sum tools/site/requirements.txt | cut -c1-8)

[ -x "$python/bin/mkdocs" ] || {
	rm -rf "$cache"
	python3 -m venv "$python"
	"$python/bin/pip" install -q --disable-pip-version-check --require-hashes -r tools/site/requirements.txt
}
rm -rf "$work" "$out"
mkdir -p "$work"
cp -r tools/site/base.yml tools/site/hook.py tools/site/theme "$work"
site=$work/site.bin
home=github.com/tarelab/tare/internal/base/hint.Home=$HOME_URL
CGO_ENABLED=0 ${GO:-go} build -ldflags "-X $home" -o "$work/tare" ./cmd/tare
${GO:-go} -C tools build -o "$site" ./site
"$site" pages . "$work/tare" "$HOME_URL" "$work"
for language in en zh; do
	NO_MKDOCS_2_WARNING=1 "$python/bin/mkdocs" build --quiet --strict -f "$work/$language.yml" >"$work/said" 2>&1 || {
		cat "$work/said" >&2
		exit 1
	}
done
# The first two need the address of a server, the third is for who changes the theme.
find "$work/site" \( -name 404.html -o -name 'sitemap.xml*' -o -name '*.map' \) -exec rm {} +
mv "$work/site" "$out"
"$site" check "$out" "$HOME_URL"
if [ "${1:-}" = test ]; then
	TARETEST_SITE=$out ${GO:-go} -C tools test -count=1 ./site
fi
rm -rf "$work"
