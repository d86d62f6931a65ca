#!/bin/sh
# Builds the static site of docs/ in dist/site: MkDocs with the theme Material (mkdocs.yml), in a Python environment of
# its own that is made once. With the argument test the built site is also opened in a browser.
set -eu
cd "$(dirname "$0")/.."
out=$PWD/dist/site
cache=${XDG_CACHE_HOME:-$HOME/.cache}/tare-site
python=$cache/$(sha256sum tools/site/requirements.txt | cut -c1-8)

[ -x "$python/bin/mkdocs" ] || {
	rm -rf "$cache"
	python3 -m venv "$python"
	"$python/bin/pip" install -q --disable-pip-version-check --require-hashes -r tools/site/requirements.txt
}
rm -rf "$out"
NO_MKDOCS_2_WARNING=1 "$python/bin/mkdocs" build --quiet --strict
# The first two need the address of a server, the third is for who changes the theme.
find "$out" \( -name 404.html -o -name 'sitemap.xml*' -o -name '*.map' \) -exec rm {} +
${GO:-go} -C tools run ./site "$out"
if [ "${1:-}" = test ]; then
	TARETEST_SITE=$out ${GO:-go} -C tools test -count=1 ./site
fi
