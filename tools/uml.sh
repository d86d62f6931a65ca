#!/bin/sh
# Runs tests on a user-mode Linux: a kernel, 7.2 or later, that is a process of this host. It has parts that
# this host's kernel may lack (clients and server of NFS, clients of Ceph, dm-delay, netem), one CPU and
# control groups of version 2, and no KVM inside. It computes as fast as the host; a system call takes 7 to
# 25 microseconds. Nothing is installed on the host; kernel and root file system stay in the user's
# cache. With a directory in TARETEST_UML_WITH the guest sees it and can reach this host's loopback.
# `tools/uml.sh PACKAGE [TESTS]` runs other tests there, `tools/uml.sh FILE` a script.
set -eu
cd "$(dirname "$0")/.."
sh tools/deps.sh uml
PATH=$PATH:/usr/sbin:/sbin
kind=uml
. tools/vm/shared.sh
. tools/uml/kernel.sh
[ "$(id -u)" = 0 ] || refuse 'making a root file system and a namespace of mounts needs root'
[ "$(uname -m)" = x86_64 ] || refuse 'the kernel is one of amd64, and tests are built for this one'
for tool in mmdebstrap busybox mkfs.ext4 apt-get dpkg-deb unshare; do
	command -v $tool >/dev/null || refuse "$tool is missing: it needs a Debian, or what tools/deps.sh names"
done
limit=${TARETEST_UML_LIMIT:-900} # seconds
with=${TARETEST_UML_WITH:-}
net='' # pid of the process with the guest's network namespace; empty: no network
slirp=''

# Packages in the guest, of this host's release.
packages=busybox-static,runc,crun,e2fsprogs,xfsprogs,util-linux,kmod,iproute2,nftables,dmsetup,nfs-kernel-server,nfs-common,ceph-common,mariadb-server,sysbench,fio

work=$(mktemp -d)
tidy() {
	rm -rf --one-file-system "$work"
	[ -z "$net" ] || {
		# shellcheck disable=SC2086
		kill $slirp $net 2>/dev/null || true # it may have ended already
		# shellcheck disable=SC2086
		wait $slirp $net 2>/dev/null || true
	}
}
trap tidy EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# prefetch makes kernel and root file system unless they are in the cache.
prefetch() {
	all=${XDG_CACHE_HOME:-$HOME/.cache}/tare-uml
	mkdir -p "$all"
	exec 9>"$all/lock"
	flock 9
	cache=$all/$(echo "$packages" | cat - tools/uml/first | sha256sum | cut -c1-8)
	if [ -e "$cache/done" ]; then
		if [ "$(kept)" = "$(cat "$cache/done")" ]; then
			touch "$cache" # what has not been used for a week is removed
			return 0
		fi
		echo "$cache is not as it was made"
	fi
	echo "making the user-mode Linux in $all"
	rm -rf "$cache"
	find "$all" -mindepth 1 -maxdepth 1 -type d -mtime +6 -exec rm -rf {} +
	mkdir "$cache"
	kernel "$cache/kernel"
	userland
	cp tools/uml/first "$work/root/first"
	chmod +x "$work/root/first"
	mkdir -p "$work/root/usr/lib/modules"
	mkfs.ext4 -q -d "$work/root" "$cache/root.img" 4G >/dev/null
	rm -rf --one-file-system "$work/root"
	kept >"$cache/done"
}

# kept is the checksums of the files in the cache, by which a damaged cache is noticed.
kept() { (cd "$cache" && sha256sum kernel/linux kernel/lib64/* && stat -c '%s %Y' root.img) 2>&1 || true; }

# inside runs a command in the network namespace.
inside() { nsenter --net="/proc/$net/ns/net" "$@"; }

# network makes a network namespace in which slirp4netns maps this host's loopback to 10.0.2.2, with a
# second link to the guest, which is at 10.0.3.2. The namespace has no name, because a named one would be
# mounted in other mount namespaces; it ends with its processes, which end with this one.
network() {
	command -v slirp4netns >/dev/null || refuse "slirp4netns is missing: TARETEST_UML_WITH needs it"
	setpriv --pdeathsig KILL unshare --net sleep infinity &
	net=$!
	until [ "$(cat "/proc/$net/comm")" = sleep ]; do
		[ -d "/proc/$net" ] || refuse "no network namespace"
		sleep 0.1
	done
	setpriv --pdeathsig KILL slirp4netns --configure "$net" tap0 >"$work/slirp" 2>&1 &
	slirp=$!
	for _ in $(seq 100); do
		! inside ip route show default 2>/dev/null | grep -q tap0 || break
		sleep 0.1
	done
	inside sh -ec '
		ip tuntap add dev guest mode tap
		ip address add 10.0.3.1/24 dev guest
		ip link set guest up
		echo 1 >/proc/sys/net/ipv4/ip_forward
		nft add table ip tare
		nft "add chain ip tare out { type nat hook postrouting priority srcnat; }"
		nft add rule ip tare out oifname tap0 masquerade' || refuse "no network: $(cat "$work/slirp")"
}

prefetch
exec 9>&-
export CGO_ENABLED=0
load "$@"
if [ -n "$with" ]; then
	cp -r "$with" "$work/vm/with"
	network
fi
mkfs.ext4 -q -d "$work/vm" "$work/tests.img" 8G >/dev/null
: >"$work/status"
# The kernel prints a line on standard error at its start, and its libc one at every end.
HOME=/tmp TMPDIR=/dev/shm machine init=/first 2>"$work/said" &
uml=$!
trap 'kill $uml; wait $uml; exit 130' INT
trap 'kill $uml; wait $uml; exit 143' TERM
ended=0
{ wait $uml || ended=$?; } 2>/dev/null # its libc ends with a segmentation fault
[ -s "$work/status" ] || tail -n 20 "$work/said"
over "$work/status" $ended
