# The user-mode Linux of tools/uml.sh and tools/systemd.sh.

# unstable unpacks packages of Debian's unstable into a directory. Sources, lists and
# archives are its own, and the machine's configuration of apt stays as it is.
unstable() {
	into=$1
	shift
	mirror=$(apt-get indextargets --format '$(SITE)' 'Origin: Debian' 'Created-By: Packages' | head -n 1)
	[ -n "$mirror" ] || refuse 'apt knows no mirror of Debian'
	mkdir -p "$work/apt/lists/partial" "$work/apt/cache/archives/partial" "$into"
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror sid main" >"$work/apt/sources.list"
	own="-q -o Dir::Etc::sourcelist=$work/apt/sources.list -o Dir::Etc::sourceparts=- -o Dir::State::lists=$work/apt/lists -o Dir::Cache=$work/apt/cache -o APT::Sandbox::User=root"
	# shellcheck disable=SC2086
	(cd "$work/apt" && apt-get $own update >/dev/null && apt-get $own download "$@" >/dev/null) ||
		refuse "$* cannot be had from Debian's unstable"
	for package in "$work"/apt/*.deb; do dpkg-deb -x "$package" "$into"; done
	rm -r "$work/apt"
}

# kernel makes the root directory that the kernel runs in: it needs a libc that may be
# younger than this host's, and is no use behind another's loader.
kernel() {
	unstable "$work/deb" user-mode-linux libc6
	mkdir -p "$1/lib64" "$1/usr/lib/uml" "$1/proc" "$1/dev/shm" "$1/tmp" "$1/job" "$1/cache"
	cp "$work/deb/usr/bin/linux.uml" "$1/linux"
	cp -L "$work"/deb/usr/lib64/ld-linux-x86-64.so.2 "$work"/deb/usr/lib/x86_64-linux-gnu/libc.so.6 "$1/lib64/"
	cp -a "$work/deb/usr/lib/uml/modules" "$1/usr/lib/uml/"
	rm -rf "$work/deb"
}

# machine is the kernel, in namespaces of its own: its mounts and what it leaves running
# go with it. Its memory is a file in /dev/shm. The argument has words for the kernel.
machine() {
	exec ${net:+nsenter "--net=/proc/$net/ns/net"} timeout -k 10 "$limit" unshare --mount --pid --fork --kill-child sh -ec '
		cd "$1"
		mount -t proc proc proc
		mount --bind /dev/shm dev/shm
		[ -z "$4" ] || {
			mkdir -p dev/net
			: >>dev/net/tun
			mount --bind /dev/net/tun dev/net/tun
		}
		mount --bind "$2" job
		mount --bind "$3" cache
		exec chroot . /linux mem=3G seccomp=on quiet \
			ubd0=/job/root.cow,/cache/root.img ubd1=/job/tests.img root=/dev/ubda rw $5 \
			con=null con0=fd:0,fd:1 $4' sh "$cache/kernel" "$work" "$cache" \
		"${net:+vec0:transport=tap,ifname=guest}" "$1" </dev/null
}
