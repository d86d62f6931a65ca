#!/bin/sh
# Prints the pgbench files of ../pgbench/testdata that real tools made.
# usage: make-pgbench.sh DIR   needs postgresql of Debian 12 (15). The server
# runs in a private directory on a socket and is stopped at the end. Each run
# takes 3 s or less.
set -eu
out=$(cd "$1" && pwd)
bin=${PGBIN:-/usr/lib/postgresql/15/bin}
prefix=${PREFIX:-pgbench-15}
export LC_ALL=C
tmp=$(mktemp -d)
cd "$tmp"
chmod 755 .
chown nobody .
as() { setpriv --reuid=nobody --regid=nogroup --clear-groups "$@"; }
as "$bin/initdb" -D "$tmp/data" -U bench -A trust >initdb.log 2>&1
setpriv --reuid=nobody --regid=nogroup --clear-groups "$bin/postgres" -D "$tmp/data" -k "$tmp" -c listen_addresses= -c fsync=off -c max_connections=20 >server.log 2>&1 &
server=$!
trap 'kill $server 2>/dev/null; wait $server 2>/dev/null; rm -rf "$tmp"' EXIT
n=0
until "$bin/pg_isready" -q -h "$tmp"; do
	n=$((n + 1))
	[ $n -lt 100 ]
	sleep 0.2
done
export PGHOST="$tmp" PGUSER=bench PGDATABASE=bench
"$bin/createdb" bench
run() { name=$1; shift; "$bin/pgbench" "$@" >"$out/$prefix-$name.log" 2>&1 || true; }
run init -i -s 1
run tpcb -c 2 -j 2 -T 3 -P 1
run select -S -c 2 -t 500
run rate -c 2 -T 3 -P 1 -R 100 -L 20
PGOPTIONS='-c default_transaction_isolation=serializable' run retries -c 4 -T 2 -P 1 --max-tries=3 --failures-detailed -r
run statements -c 1 -T 1 -r
run connect -c 1 -T 1 -C
run scripts -c 2 -T 2 -b select-only@3 -b simple-update@1
run timestamp -c 1 -T 2 -P 1 --progress-timestamp
printf 'SELECT pg_sleep(3);\n' >slow.sql
run idle -n -c 1 -t 1 -P 1 -f slow.sql
PGPORT=1 run refused -c 1 -T 1
"$bin/pgbench" -c 2 -t 150 -l --log-prefix=tx >/dev/null 2>&1
cat tx.* >"$out/$prefix-transactions.txt"
"$bin/pgbench" -c 2 -T 2 -R 100 -L 5 -l --log-prefix=rate >/dev/null 2>&1
cat rate.* >"$out/$prefix-transactions-rate.txt"
