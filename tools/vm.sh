#!/bin/sh
# Runs tests in a virtual machine whose kernel has only version 2 of control groups, and AppArmor: Debian's
# cloud kernel in QEMU. It is emulated, because KVM is not everywhere, and 15 to 25 times slower than this
# host, so it shows what works and not how fast. Nothing is installed on the host; kernel and root file
# system stay in the user's cache. `cuts N` cuts its power N times instead.
set -eu
cd "$(dirname "$0")/.."
sh tools/deps.sh vm
PATH=$PATH:/usr/sbin:/sbin
kind=vm
. tools/vm/shared.sh
. tools/vm/qemu.sh
[ "$(id -u)" = 0 ] || refuse 'making a root file system needs root'
[ "$(uname -m)" = x86_64 ] || refuse 'the machine is one of amd64, and tests are built for this one'
for tool in qemu-system-x86_64 mmdebstrap busybox mkfs.ext4 apt-get dpkg-deb; do
	command -v $tool >/dev/null || refuse "$tool is missing: it needs a Debian, or what tools/deps.sh names"
done
limit=${TARETEST_VM_LIMIT:-2400} # seconds

# The size of the root file system: volumes are made in its /tmp, two of btrfs at once.
size=4G

# Packages in the guest.
packages=busybox-static,runc,crun,apparmor,e2fsprogs,xfsprogs,btrfs-progs,util-linux,kmod,iproute2

work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# newest is the newest package of the kernel, "" if apt knows none.
newest() { apt-cache depends linux-image-cloud-amd64 2>/dev/null | awk '/Depends: linux-image-/ {print $2; exit}'; }

# download downloads and unpacks the kernel. With old lists apt may ask for a version that is gone.
download() {
	mkdir -p "$work/deb/tree"
	if [ -z "$kernel" ] || ! (cd "$work/deb" && apt-get download -q "$kernel" >/dev/null 2>&1); then
		apt-get update -q >/dev/null
		kernel=$(newest)
		[ -n "$kernel" ] || refuse 'apt knows no linux-image-cloud-amd64'
		(cd "$work/deb" && apt-get download -q "$kernel" >/dev/null)
	fi
	dpkg-deb -x "$work"/deb/*.deb "$work/deb/tree"
}

# prefetch makes kernel and root file system unless they are in the cache.
prefetch() {
	all=${XDG_CACHE_HOME:-$HOME/.cache}/tare-vm
	mkdir -p "$all"
	exec 9>"$all/lock"
	flock 9
	kernel=$(newest)
	cache=$all/$kernel-$(echo "$packages $modules $size" | cat - tools/vm/initrd | sha256sum | cut -c1-8)
	if [ -e "$cache/done" ]; then
		if [ "$(kept)" = "$(cat "$cache/done")" ]; then
			touch "$cache" # what has not been used for a week is removed
			return 0
		fi
		echo "$cache is not as it was made"
	fi
	echo "making the virtual machine in $all"
	download
	cache=$all/$kernel-${cache##*-}
	rm -rf "$cache"
	find "$all" -maxdepth 1 -name 'linux-image-*' -mtime +6 -exec rm -rf {} +
	mkdir "$cache"
	cp "$work"/deb/tree/boot/vmlinuz-* "$cache/vmlinuz"
	first "$work/deb/tree/lib/modules" /vm/init >"$cache/initrd"
	userland
	cp -a "$work/deb/tree/lib/modules" "$work/root/usr/lib/"
	chroot "$work/root" depmod "$(ls "$work/deb/tree/lib/modules")"
	mkfs.ext4 -q -d "$work/root" "$cache/root.img" $size >/dev/null
	rm -rf --one-file-system "$work/root" "$work/deb"
	kept >"$cache/done"
}

# kept is the checksums of the files in the cache, by which a damaged cache is noticed; of the image, which is
# large and never written to, size and time of modification.
kept() { (cd "$cache" && sha256sum vmlinuz initrd && stat -c '%s %Y' root.img) 2>&1 || true; }

prefetch
exec 9>&-
export CGO_ENABLED=0
if [ "${1:-}" = cuts ]; then
	load tools/vm/cuts
else
	load "$@"
fi
mkfs.ext4 -q -d "$work/vm" "$work/tests.img" 4G >/dev/null

if [ "${1:-}" = cuts ]; then
	. tools/vm/cut.sh
	cuts "${2:-3}"
	exit
fi

: >"$work/status"
machine "$work/status" "" timeout -k 10 "$limit" &
vm=$!
trap 'kill $vm; wait $vm; exit 130' INT
trap 'kill $vm; wait $vm; exit 143' TERM
ended=0
wait $vm || ended=$?
over "$work/status" $ended
