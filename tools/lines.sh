#!/bin/sh
# Prints the number of lines of tare by folder: code of the Go files of all packages that the program links, without
# comments and blank lines, and all lines of the files that are embedded in them (templates, styles, presets, texts). Tests,
# their data and packages that only tests import do not count. With -c it fails if there are more than in tools/lines.txt.
set -eu
cd "$(dirname "$0")/.."
module=$(go list -m)
go list -deps -f '{{$d := .ImportPath}}{{range .GoFiles}}{{$d}}/{{.}}
{{end}}{{range .EmbedFiles}}{{$d}}/{{.}}
{{end}}' ./cmd/tare | sed -n "s#^$module/##p" | sort -u | tr '\n' '\0' | xargs -0 awk -v check="${1:-}" '
FNR == 1 {
	n = split(FILENAME, at, "/"); folder = n > 2 ? at[1] "/" at[2] : at[1]
	go = FILENAME ~ /\.go$/; block = 0
}
!go { lines[folder]++; embedded++; next }
block { if (/\*\//) block = 0; next }
/^[ \t]*\/\*/ { if (!/\*\//) block = 1; next }
/^[ \t]*(\/\/|$)/ { next }
{ lines[folder]++; code++ }
END {
	all = code + embedded
	if (check == "-c") {
		getline most <"tools/lines.txt"
		if (all > most + 0) {
			printf "%d lines, and tools/lines.txt allows %d: take something out, or raise the number in a commit whose body says what users get for it\n", all, most
			exit 1
		}
		exit
	}
	for (folder in lines) printf "%7d %s\n", lines[folder], folder | "sort -rn"
	close("sort -rn")
	printf "%7d in all, %d of them embedded\n", all, embedded
}'
