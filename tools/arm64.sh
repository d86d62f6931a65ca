#!/bin/sh
# Tests tare on arm64: the packages that touch no machine under qemu-user, then the package of Debian of make release on
# an emulated machine with Debian's kernel, in which tare runs, is interrupted, is killed and cleans up. QEMU computes
# 15 to 30 times slower than this host. Nothing is installed on the host but what tools/deps.sh names; kernel and root
# file system stay in the user's cache. The argument `user` or `machine` is one of the two parts, a file is a script to
# run on the machine instead of tools/arm64/tests.
set -eu
cd "$(dirname "$0")/.."
sh tools/deps.sh arm64
PATH=$PATH:/usr/sbin:/sbin
kind=arm64
. tools/vm/shared.sh
. tools/vm/qemu.sh
limit=${TARETEST_ARM64_LIMIT:-2400} # seconds
for tool in qemu-system-aarch64 qemu-aarch64-static mmdebstrap mkfs.ext4 busybox; do
	command -v $tool >/dev/null || refuse "$tool is missing: it needs a Debian, or what tools/deps.sh names"
done
part=${1:-}
tests=tools/arm64/tests
[ ! -f "$part" ] || { tests=$part && part=machine; }

work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Packages in the guest beside the essential ones, which are unpacked and not configured: that would execute them.
release=bookworm
packages=busybox-static,mount,runc,crun,e2fsprogs,iproute2,kmod,procps,linux-image-cloud-arm64
modules="$modules virtio_mmio"
size=3G

# Tests that are not for arm64: the bytes of a result that amd64 computed (fused multiplications change last digits),
# and one that counts what a program of this host does while the test is emulated.
skipped='TestShippedResult|TestTheGateHolds'

# user runs the tests of tools/arm64/packages.
user() {
	# shellcheck disable=SC2046
	CGO_ENABLED=0 GOARCH=arm64 ${GOTEST:-go test} -count=1 -vet=off -timeout 20m -skip "$skipped" -exec qemu-aarch64-static \
		$(sed '/^#/d; s|^|./|' tools/arm64/packages)
}

# kept is the checksums of the files in the cache, by which a damaged cache is noticed.
kept() { (cd "$cache" && sha256sum vmlinuz initrd && stat -c '%s %Y' root.img) 2>&1 || true; }

# prefetch makes kernel and root file system unless they are in the cache.
prefetch() {
	all=${XDG_CACHE_HOME:-$HOME/.cache}/tare-arm64
	mkdir -p "$all"
	exec 9>"$all/lock"
	flock 9
	cache=$all/$(echo "$release $packages $modules $size" | cat - tools/vm/initrd | sha256sum | cut -c1-8)
	if [ -e "$cache/done" ] && [ "$(kept)" = "$(cat "$cache/done")" ]; then
		return 0
	fi
	echo "making the machine in $all"
	rm -rf "$cache"
	mkdir "$cache"
	mmdebstrap --quiet --mode=root --architectures=arm64 --variant=extract --include='?essential' --include="$packages" \
		--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr "$release" "$work/root"
	(cd "$work/root" && rm -rf var/cache/apt var/lib/apt/lists usr/share/doc usr/share/locale usr/share/man && mkdir -p vm)
	cp "$work/root/usr/share/base-passwd/passwd.master" "$work/root/etc/passwd"
	cp "$work/root/usr/share/base-passwd/group.master" "$work/root/etc/group"
	: >"$work/root/var/lib/dpkg/status"
	cp "$work"/root/boot/vmlinuz-* "$cache/vmlinuz"
	busybox=$work/root/bin/busybox
	first "$work/root/usr/lib/modules" /vm/init >"$cache/initrd"
	depmod -b "$work/root" "$(ls "$work/root/usr/lib/modules")"
	mkfs.ext4 -q -d "$work/root" "$cache/root.img" $size >/dev/null
	rm -rf --one-file-system "$work/root"
	kept >"$cache/done"
}

# boot runs the machine; what it prints ends with a line "exit N" of its first process. The board has one serial line.
boot() {
	exec timeout -k 10 "$limit" qemu-system-aarch64 -M virt -accel tcg,thread=multi -cpu cortex-a72 -smp 2 -m 3G \
		-display none -monitor none -no-reboot -nic none \
		-kernel "$cache/vmlinuz" -initrd "$cache/initrd" -append 'console=ttyAMA0 quiet panic=-1' \
		-drive "file=$cache/root.img,format=raw,if=virtio,snapshot=on" \
		-drive "file=$work/tests.img,format=raw,if=virtio" \
		-serial stdio </dev/null
}

machine_() {
	[ "$(id -u)" = 0 ] || refuse 'making a root file system needs root'
	prefetch
	exec 9>&-
	mkdir "$work/vm"
	cp tools/arm64/init "$work/vm/init"
	chmod +x "$work/vm/init"
	cp "$tests" "$work/vm/tests"
	OUT=$work/dist HOME_URL=${HOME_URL:-https://example.org/tare} sh tools/release/make.sh v0.0.1 >"$work/made" 2>&1 || {
		cat "$work/made"
		exit 1
	}
	cp "$work/dist/tare_0.0.1_arm64.deb" "$work/vm/"
	mkfs.ext4 -q -d "$work/vm" "$work/tests.img" 2G >/dev/null
	mkfifo "$work/console"
	tee "$work/printed" <"$work/console" &
	boot >"$work/console" &
	vm=$!
	trap 'kill $vm; wait $vm; exit 130' INT
	trap 'kill $vm; wait $vm; exit 143' TERM
	ended=0
	wait $vm || ended=$?
	tr -d '\r' <"$work/printed" | grep '^exit ' >"$work/status" || true
	over "$work/status" $ended
}

case $part in
'') user && machine_ ;;
user) user ;;
machine) machine_ ;;
*) refuse "no part is called $part: user, machine" ;;
esac
