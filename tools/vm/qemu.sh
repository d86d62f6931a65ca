# Shared by tools/vm.sh, tools/systemd.sh and tools/arm64.sh: machines in QEMU, emulated, because KVM is not everywhere.

# The kernel modules for the disks, in the order in which they load; a kernel may have some of them built in.
modules='virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci virtio_blk'

# first makes the initrd; its arguments are the directory with the modules of the kernel and the program that the
# initrd executes at its end. $busybox is that of another architecture.
first() {
	mkdir -p "$work/initrd/bin" "$work/initrd/dev" "$work/initrd/root" "$work/initrd/modules"
	for m in $modules; do
		file=$(find "$1" -name "$m.ko" -o -name "$m.ko.xz")
		case $file in
		'') continue ;;
		*.xz) xz -dc "$file" >"$work/initrd/modules/$m.ko" ;;
		*) cp "$file" "$work/initrd/modules" ;;
		esac
		echo "$m" >>"$work/initrd/modules/order"
	done
	cp "${busybox:-$(command -v busybox)}" "$work/initrd/bin/busybox"
	sed "s|/vm/init\$|$2|" tools/vm/initrd >"$work/initrd/init"
	chmod +x "$work/initrd/init"
	(cd "$work/initrd" && find . | busybox cpio -o -H newc 2>/dev/null)
	rm -r "$work/initrd"
}

# machine runs a virtual machine of amd64. The first argument is a file for the output of the second serial line, the second
# one options for the kernel; further arguments are a command that starts QEMU.
machine() {
	serial=$1 words=$2
	shift 2
	exec "$@" qemu-system-x86_64 -accel tcg,thread=multi -cpu max -smp 2 -m 3G \
		-display none -monitor none -no-reboot -nic none \
		-kernel "$cache/vmlinuz" -initrd "$cache/initrd" -append "console=ttyS0 quiet panic=-1 ${TARETEST_VM_APPEND:-} $words" \
		-drive "file=$cache/root.img,format=raw,if=virtio,snapshot=on" \
		-drive "file=$work/tests.img,format=raw,if=virtio" \
		-serial stdio -serial "file:$serial" </dev/null
}
