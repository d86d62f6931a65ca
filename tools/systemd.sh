#!/bin/sh
# Runs tare on hosts with systemd as process 1: Debian 12 and 13, each with its own systemd and
# Docker. The default kernel is the user-mode Linux of tools/uml.sh, which is as fast as this host and
# has the controllers cpu, io, memory and pids. With `vm` as the first argument it is Debian's own,
# emulated in QEMU, which also has cpuset and is 15 to 25 times slower. The next arguments are the
# releases (bookworm, trixie; default both), and cases, or a script to run instead of the tests.
# mmdebstrap makes the disks, which stay in the user's cache.
set -eu
cd "$(dirname "$0")/.."
on=uml
[ "${1:-}" != vm ] || { on=vm && shift; }
sh tools/deps.sh $on
PATH=$PATH:/usr/sbin:/sbin
kind=systemd
. tools/vm/shared.sh
. tools/vm/qemu.sh
[ $on = vm ] || . tools/uml/kernel.sh
[ "$(id -u)" = 0 ] || refuse 'making a root file system and a namespace of mounts needs root'
[ "$(uname -m)" = x86_64 ] || refuse 'the machine is one of amd64, and tare is built for this one'
for tool in mmdebstrap busybox mkfs.ext4 apt-get dpkg-deb unshare; do
	command -v $tool >/dev/null || refuse "$tool is missing: it needs a Debian, or what tools/deps.sh names"
done
limit=${TARETEST_SYSTEMD_LIMIT:-900} # seconds for each release
net=''                               # a user-mode Linux without a network
packages=systemd,systemd-sysv,dbus,dbus-user-session,libpam-systemd,udev,docker.io,runc,redis-server,redis-tools,busybox-static,e2fsprogs,util-linux,kmod,iproute2,procps
[ $on = uml ] || packages=$packages,linux-image-cloud-amd64

work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# also are the additional packages of a release.
also() {
	case $1 in
	bookworm) ;;
	*) echo ,docker-cli ;;
	esac
}

# recipe is everything on which the disks in the cache depend.
recipe() {
	echo "$packages$(also "$1") $modules"
	cat tools/systemd/recipe tools/uml/kernel.sh tools/vm/initrd
}

# prefetch makes kernel and disk of a release unless they are in the cache.
prefetch() {
	all=${XDG_CACHE_HOME:-$HOME/.cache}/tare-systemd
	mkdir -p "$all"
	exec 9>"$all/lock"
	flock 9
	cache=$all/$1-$on-$(recipe "$1" | sha256sum | cut -c1-8)
	if [ -e "$cache/done" ]; then
		if [ "$(kept)" = "$(cat "$cache/done")" ]; then
			touch "$cache" # what has not been used for a week is removed
			return 0
		fi
		echo "$cache is not as it was made"
	fi
	echo "making $1 with systemd in $all"
	rm -rf "$cache"
	find "$all" -mindepth 1 -maxdepth 1 -type d -mtime +6 -exec rm -rf {} +
	mkdir "$cache"
	# The initrd of the kernel's package is not used.
	INITRD=No mmdebstrap --quiet --mode=root --variant=minbase --include="$packages$(also "$1")" "$1" "$work/root"
	sh tools/systemd/recipe "$work/root"
	if [ $on = vm ]; then
		mv "$work"/root/boot/vmlinuz-* "$cache/vmlinuz"
		first "$work/root/usr/lib/modules" /sbin/init >"$cache/initrd"
	else
		kernel "$cache/kernel"
		mkdir -p "$work/root/usr/lib/modules"
		cp -a "$cache"/kernel/usr/lib/uml/modules/* "$work/root/usr/lib/modules/"
	fi
	mkfs.ext4 -q -d "$work/root" "$cache/root.img" 4G >/dev/null
	rm -rf --one-file-system "$work/root"
	kept >"$cache/done"
}

# kept is the checksums of the files in the cache, by which a damaged cache is noticed.
kept() { (cd "$cache" && find . \( -name vmlinuz -o -name initrd -o -path ./kernel/linux -o -path './kernel/lib64/*' \) -exec sha256sum {} + | sort && stat -c '%s %Y' root.img) 2>&1 || true; }

# start boots the release.
start() {
	if [ $on = vm ]; then
		machine "$work/status" systemd.show_status=false timeout -k 10 "$limit"
	else
		HOME=/tmp TMPDIR=/dev/shm machine 'init=/sbin/init systemd.show_status=false' 2>"$work/said"
	fi
}

# guest runs the tests on a release and exits with their status.
guest() (
	prefetch "$1"
	exec 9>&-
	rm -f "$work/root.cow" # the difference of a user-mode Linux to its disk
	: >"$work/status"
	cp --sparse=always "$work/given.img" "$work/tests.img"
	echo "== $1"
	start &
	guest=$!
	trap 'kill $guest; wait $guest; exit 130' INT
	trap 'kill $guest; wait $guest; exit 143' TERM
	ended=0
	{ wait $guest || ended=$?; } 2>/dev/null # a user-mode Linux ends with a segmentation fault
	[ -s "$work/status" ] || [ ! -e "$work/said" ] || tail -n 20 "$work/said"
	over "$work/status" $ended
)

releases='' cases='' tests=tools/systemd/tests
for word; do
	case $word in
	bookworm | trixie) releases="$releases $word" ;;
	*) if [ -f "$word" ]; then tests=$word; else cases="$cases $word"; fi ;;
	esac
done
export CGO_ENABLED=0
mkdir -p "$work/vm"
cp tools/systemd/init "$work/vm/"
script "$tests"
echo "$cases" >"$work/vm/cases"
mkfs.ext4 -q -d "$work/vm" "$work/given.img" 4G >/dev/null
failed=0
for release in ${releases:-bookworm trixie}; do
	guest "$release" || failed=1
done
exit $failed
