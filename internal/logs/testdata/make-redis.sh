#!/bin/sh
# Prints the redis-benchmark files of ../redis/testdata that real tools made.
# usage: make-redis.sh DIR   needs redis-server and redis-tools. BENCHMARK and SERVER
# name other ones (valkey-benchmark, valkey-server), PREFIX the files. The server keeps
# its files in a private directory, listens on a socket and a port of loopback, and is
# stopped at the end.
set -eu
out=$(cd "$1" && pwd)
bench=${BENCHMARK:-redis-benchmark}
server=${SERVER:-redis-server}
prefix=${PREFIX:-redis-7.0}
port=${PORT:-16399}
export LC_ALL=C
tmp=$(mktemp -d)
start() {
	"$server" --dir "$tmp" --port "$port" --bind 127.0.0.1 --unixsocket "$tmp/s" --daemonize no "$@" >"$tmp/server.log" 2>&1 &
	pid=$!
	n=0
	until [ -S "$tmp/s" ]; do
		n=$((n + 1))
		[ $n -lt 100 ]
		sleep 0.1
	done
}
stop() { kill "$pid" 2>/dev/null; wait "$pid" 2>/dev/null || true; rm -f "$tmp/s"; }
trap 'stop; rm -rf "$tmp"' EXIT
run() { name=$1; shift; "$bench" "$@" >"$out/$prefix-$name.log" 2>&1 || true; }
start --save ''
run default -s "$tmp/s" -t set,get -n 60000 -c 20
run pipeline -p "$port" -t set,lrange_100,mset -n 20000 -c 4 -d 256 -P 16
run threads -p "$port" -t get -n 20000 -c 8 --threads 2
run reconnect -p "$port" -t ping -n 3000 -c 2 -k 0
run command -s "$tmp/s" -n 20000 -c 5 -r 1000 hset myhash __rand_int__ "a b"
run quiet -s "$tmp/s" -q -t set,get,lpush,lrange_300 -n 60000 -c 20
run csv -s "$tmp/s" --csv -t ping,set,get,mset -n 20000
run short -s "$tmp/s" -q -t set -n 1 -c 1
# What stops while it runs: the server that is stopped for a while, the tool that is killed.
(sleep 1; kill -STOP "$pid"; sleep 1; kill -CONT "$pid") &
run stalled -s "$tmp/s" -t set -n 300000 -c 4
wait $! || true
timeout -s KILL 2 "$bench" -s "$tmp/s" -t get -n 100000000 -c 4 >"$out/$prefix-killed.log" 2>&1 || true
stop
start --save '900 1' --appendonly yes --requirepass secret
run aof -p "$port" -a secret -t set -n 20000 -c 4
run noauth -p "$port" -t set -n 1000 -c 2
stop
run refused -p "$port" -t set -n 1000
