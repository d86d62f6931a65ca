#!/bin/sh
# Prints the number of lines of tare by folder: the Go files of all packages that the program links,
# and the files embedded in them (templates, styles, presets, texts). Tests, their data and packages
# that only tests import do not count.
set -eu
cd "$(dirname "$0")/.."
module=$(go list -m)
go list -deps ./cmd/tare | sed -n "s#^$module/##p" | while read -r dir; do
	git ls-files "$dir" | grep -v '_test\.go$\|/testdata/' | while read -r file; do
		case $file in
		"$dir"/*.go) [ "${file%/*}" = "$dir" ] || continue ;;
		*.go | *.md) continue ;;
		*) [ "${file%/*}" = "$dir" ] || go list -f '{{join .EmbedFiles "\n"}}' "./$dir" | grep -qx "${file#"$dir"/}" || continue ;;
		esac
		echo "$file"
	done
done | sort -u | tr '\n' '\0' | xargs -0 wc -l | awk '$2 != "total" {
	n = split($2, at, "/"); folder = n > 2 ? at[1] "/" at[2] : at[1]
	lines[folder] += $1; all += $1
	if ($2 ~ /\.go$/) code += $1
}
END {
	for (folder in lines) printf "%7d %s\n", lines[folder], folder | "sort -rn"
	close("sort -rn")
	printf "%7d in all, %d of them Go\n", all, code
}'
