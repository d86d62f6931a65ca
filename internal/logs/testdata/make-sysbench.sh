#!/bin/sh
# Prints the sysbench files of ../sysbench/testdata that real tools made.
# usage: make-sysbench.sh ERA DIR   ERA: 1 (1.0 and 1.1), 05 or 04
# SYSBENCH names the binary, PREFIX the beginning of the file names. Needs
# mariadb-server of Debian 12; the server runs in a private directory on a
# socket and is stopped at the end. Each run takes 3 s or less.
set -eu
era=$1
out=$(cd "$2" && pwd)
sb=${SYSBENCH:-sysbench}
prefix=${PREFIX:-sysbench-1.0.20}
export LC_ALL=C
tmp=$(mktemp -d)
cd "$tmp"
mkdir data
chmod 755 "$tmp"
chown nobody data .
mariadb-install-db --no-defaults --user=nobody --datadir="$tmp/data" --auth-root-authentication-method=normal --skip-test-db >install.log 2>&1
mariadbd --no-defaults --user=nobody --datadir="$tmp/data" --socket="$tmp/sock" --skip-networking --innodb-buffer-pool-size=64M --innodb-flush-log-at-trx-commit=0 2>server.log &
server=$!
trap 'kill $server 2>/dev/null; wait $server 2>/dev/null; rm -rf "$tmp"' EXIT
n=0
until mariadb-admin --no-defaults -u root -S "$tmp/sock" ping >/dev/null 2>&1; do
	n=$((n + 1))
	[ $n -lt 100 ]
	sleep 0.2
done
mariadb --no-defaults -u root -S "$tmp/sock" -e 'create database sbtest'
db="--mysql-socket=$tmp/sock --mysql-user=root"

if [ "$era" = 1 ]; then
	t="--tables=2 --table-size=2000"
	$sb oltp_read_write $db $t prepare >/dev/null
	{
		for n in 1 2 4; do
			$sb oltp_read_only $db $t --threads=$n --time=2 --report-interval=1 run
		done
	} >"$out/$prefix-sweep.log"
	$sb oltp_read_write $db $t --threads=2 --time=3 --report-interval=1 --histogram run >"$out/$prefix-histogram.log"
	$sb oltp_read_write $db $t --threads=2 --time=3 --report-interval=1 --rate=50 --percentile=99 run >"$out/$prefix-rate.log"
	$sb oltp_point_select $db $t --threads=2 --time=1 --percentile=0 run >"$out/$prefix-percentile0.log"
	$sb oltp_read_only $db $t --threads=2 --time=3 --report-interval=1 --report-checkpoints=2 run >"$out/$prefix-checkpoint.log"
	$sb oltp_read_write $db --mysql-password=wrong $t --threads=1 --time=1 run >"$out/$prefix-fatal.log" 2>&1 || true
	cat "${OLTP:-/usr/share/sysbench/oltp_read_only.lua}" >hook.lua
	echo "sysbench.hooks.report_intermediate = sysbench.report_default" >>hook.lua
	LUA_PATH="/usr/share/sysbench/?.lua;$(dirname "${OLTP:-/usr/share/sysbench/x}")/?.lua" $sb ./hook.lua $db $t --threads=2 --time=3 --report-interval=1 run >"$out/$prefix-hook-default.log"
	$sb cpu --threads=2 --time=2 --report-interval=1 run >"$out/$prefix-cpu.log"
	$sb cpu --threads=2 --time=2 --report-interval=1 --rate=100 run >"$out/$prefix-cpu-rate.log"
	$sb memory --threads=1 --time=2 --report-interval=1 --memory-total-size=100T run >"$out/$prefix-memory.log"
	$sb threads --threads=2 --time=1 run >"$out/$prefix-threads.log"
	$sb mutex --threads=2 --mutex-num=16 --mutex-locks=2000 --mutex-loops=10 run >"$out/$prefix-mutex.log"
	$sb fileio --file-total-size=16M --file-num=4 prepare >/dev/null
	$sb fileio --file-total-size=16M --file-num=4 --file-test-mode=rndrw --threads=2 --time=2 --report-interval=1 run >"$out/$prefix-fileio.log"
fi
if [ "$era" = 05 ]; then
	t="--test=${OLTP:?path of oltp.lua} --oltp-tables-count=2 --oltp-table-size=2000"
	$sb $t $db prepare >/dev/null
	$sb $t $db --num-threads=2 --max-time=3 --max-requests=0 --report-interval=1 run >"$out/$prefix-oltp.log"
	$sb $t $db --num-threads=2 --max-time=3 --max-requests=0 --report-interval=1 --tx-rate=50 run >"$out/$prefix-rate.log"
	$sb --test=cpu --num-threads=2 --max-time=1 --max-requests=0 run >"$out/$prefix-cpu.log"
	$sb --test=memory --memory-total-size=1G run >"$out/$prefix-memory.log"
	$sb --test=fileio --file-total-size=16M --file-num=4 prepare >/dev/null
	$sb --test=fileio --file-total-size=16M --file-num=4 --file-test-mode=rndrw --max-time=2 --max-requests=0 --report-interval=1 run >"$out/$prefix-fileio.log"
fi
if [ "$era" = 04 ]; then
	t="--test=oltp --oltp-table-size=2000 --mysql-db=sbtest"
	$sb $t $db prepare >/dev/null
	$sb $t $db --num-threads=2 --max-time=3 --max-requests=0 ${INTERVAL---report-interval=1} run >"$out/$prefix-oltp.log"
	$sb --test=cpu --num-threads=2 --max-time=1 --max-requests=100 run >"$out/$prefix-cpu.log"
	$sb --test=memory --memory-total-size=1G run >"$out/$prefix-memory.log"
	$sb --test=fileio --file-total-size=16M --file-num=4 prepare >/dev/null
	$sb --test=fileio --file-total-size=16M --file-num=4 --file-test-mode=rndrw --max-time=1 --max-requests=1000 run >"$out/$prefix-fileio.log"
fi
