#!/bin/sh
# Prints the hyperfine files of ../hyperfine/testdata that real tools made.
# usage: make-hyperfine.sh DIR   HYPERFINE names the binary, PREFIX the names.
set -eu
out=$(cd "$1" && pwd)
h=${HYPERFINE:-hyperfine}
prefix=${PREFIX:-hyperfine-1.15}
export LC_ALL=C
$h -N -r 10 --export-json "$out/$prefix.json" --export-csv "$out/$prefix.csv" 'sleep 0.01' 'sleep 0.02' >"$out/$prefix.txt" 2>&1
$h -r 3 -P n 1 2 --export-json "$out/$prefix-parameter.json" --export-csv "$out/$prefix-parameter.csv" 'sleep 0.0{n}' >/dev/null 2>&1
$h -r 2 --export-json "$out/$prefix-one.json" --export-csv "$out/$prefix-one.csv" true >/dev/null 2>&1
$h -i -r 3 --export-json "$out/$prefix-failing.json" 'exit 3' >/dev/null 2>&1
