#!/bin/sh
# Prints the fio files of ../fio/testdata that real tools made.
# usage: make-fio.sh DIR   FIO names the binary, PREFIX the beginning of names.
# Each run takes 2 s or less and writes 8 MiB in a private directory.
set -eu
out=$(cd "$1" && pwd)
fio=${FIO:-fio}
prefix=${PREFIX:-fio-3.33}
has() { case " ${WANT:-json plus unified text terse status logs error} " in *" $1 "*) return 0 ;; esac; return 1; }
export LC_ALL=C
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
common="--size=8M --bs=4k --runtime=1 --time_based --filename=$tmp/data --ioengine=psync"
job="$common --name=mix --rw=randrw --rate_iops=300,100 --fsync=16"
if has json; then
	$fio $job --name=trims --rw=randread --rate_iops=50 --output-format=json --output="$out/$prefix.json"
fi
if has plus; then
	$fio $job --output-format=json+ --output="$out/$prefix-plus.json"
fi
if has unified; then
	$fio $job --unified_rw_reporting=1 --output-format=json --output="$out/$prefix-unified.json"
fi
if has text; then
	$fio $job --name=reader --rw=randread --rate_iops=50 --output="$out/$prefix.txt"
	$fio $job --output-format=normal,json --output="$out/$prefix-both.txt" || rm -f "$out/$prefix-both.txt"
	for rw in randread randwrite; do # two runs, each in two forms
		$fio $common --name=disk --rw=$rw --rate_iops=200 --output-format=terse,normal
	done >"$out/$prefix-terse-text.txt"
fi
if has terse; then
	for v in ${TERSE:-2 3 4 5}; do
		$fio $job --minimal --terse-version=$v --output="$out/$prefix-terse$v.txt" || rm -f "$out/$prefix-terse$v.txt"
	done
fi
if has status; then
	$fio $common --runtime=2 --name=mix --rw=randrw --rate_iops=300,100 --status-interval=1 --output-format=json --output="$out/$prefix-status.json"
fi
if has logs; then
	$fio $job --write_lat_log=$tmp/l --write_bw_log=$tmp/l --write_iops_log=$tmp/l --output=/dev/null
	$fio $job --write_lat_log=$tmp/a --write_iops_log=$tmp/a --write_bw_log=$tmp/a --log_avg_msec=100 --output=/dev/null
	$fio $job --write_lat_log=$tmp/o --log_offset=1 --output=/dev/null || true
	$fio $job --numjobs=2 --write_bw_log=$tmp/j --write_lat_log=$tmp/j --log_avg_msec=100 --output=/dev/null
	for n in 1 2; do
		for f in j_bw j_clat; do head -400 $f.$n.log >"$out/$prefix-$f.$n.log"; done
	done
	for f in l_lat l_slat l_clat l_bw l_iops a_lat a_clat a_bw a_iops o_lat; do
		for n in $f.1.log $f.log; do [ -s $n ] && head -400 $n >"$out/$prefix-$f.log"; done
	done || true
fi
if has error; then
	$fio --name=full --filename=/dev/full --rw=write --bs=4k --size=1M --ioengine=psync --output-format=json --output="$out/$prefix-error.json" 2>"$tmp/err" || true
	cat "$tmp/err" "$out/$prefix-error.json" >"$out/$prefix-error-mixed.json"
	$fio --name=full --filename=/dev/full --rw=write --bs=4k --size=1M --ioengine=psync --output="$out/$prefix-error.txt" || true
fi
