#!/bin/sh
# Installs the programs that the tests need; with the argument ceph, cluster, vm, uml, release, arm64 or
# site those for the tests of Ceph, of make cluster, vm, uml, test-release, arm64 or test-site. As root on Debian it installs packages without
# starting their services. Elsewhere it prints the missing packages, and tests that need one skip.
set -eu

# Each line: a program, or a pattern of its path, and its package.
want_ceph() {
	cat <<-'END'
		ceph ceph-common
		rbd ceph-common
		ceph-mon ceph-mon
		ceph-mgr ceph-mgr
		ceph-osd ceph-osd
		ceph-mds ceph-mds
	END
}
want_tests() {
	cat <<-'END'
		runc runc
		crun crun
		runsc-of-trixie runsc
		podman podman
		newuidmap uidmap
		slirp4netns slirp4netns
		dockerd docker.io
		docker docker-cli
		/usr/libexec/docker/cli-plugins/docker-compose docker-compose
		quadlet podman
		kubectl kubectl
		systemd-analyze systemd
		ctr containerd
		mmdebstrap mmdebstrap
		busybox busybox-static
		tmux tmux
		zsh zsh
		fish fish
		/usr/share/bash-completion/bash_completion bash-completion
		mandoc mandoc
		mariadbd mariadb-server
		sysbench sysbench
		fio fio
		stress-ng stress-ng
		stress stress
		zstd zstd
		mkfs.ext4 e2fsprogs
		mkfs.xfs xfsprogs
		mkfs.btrfs btrfs-progs
		/usr/lib/postgresql/*/bin/postgres postgresql
		/usr/lib/postgresql/*/bin/pgbench postgresql
		redis-server redis-server
		redis-benchmark redis-tools
		clickhouse-server clickhouse-server
		clickhouse-client clickhouse-client
		chromium chromium
		/usr/lib/python3/dist-packages/prometheus_client/openmetrics python3-prometheus-client
		/usr/lib/python3/dist-packages/jsonschema python3-jsonschema
		/usr/lib/python3/dist-packages/nbclient python3-nbclient
		/usr/lib/python3/dist-packages/ipykernel python3-ipykernel
		/usr/lib/python3/dist-packages/pandas python3-pandas
		/usr/lib/python3/dist-packages/matplotlib python3-matplotlib
		prometheus prometheus
	END
}
want_cluster() {
	cat <<-'END'
		etcd etcd-server
		containerd containerd
		ctr containerd
		runc runc
		/usr/lib/cni/bridge containernetworking-plugins
		iptables iptables
		nft nftables
		nsenter util-linux
		mariadbd mariadb-server
		sysbench sysbench
		kubectl kubectl
	END
}
want_vm() {
	cat <<-'END'
		qemu-system-x86_64 qemu-system-x86
		mmdebstrap mmdebstrap
		busybox busybox-static
		mkfs.ext4 e2fsprogs
	END
}
want_uml() {
	cat <<-'END'
		mmdebstrap mmdebstrap
		busybox busybox-static
		mkfs.ext4 e2fsprogs
		ip iproute2
		nft nftables
		slirp4netns slirp4netns
	END
}

want_release() {
	cat <<-'END'
		mmdebstrap mmdebstrap
		rpm rpm
		ruby ruby
		/usr/lib/python3*/ensurepip python3-venv
		dockerd docker.io
		docker docker-cli
		podman podman
		runc runc
		kubectl kubectl
	END
}
want_arm64() {
	cat <<-'END'
		qemu-system-aarch64 qemu-system-arm
		qemu-aarch64-static qemu-user-static
		mmdebstrap mmdebstrap
		busybox busybox-static
		mkfs.ext4 e2fsprogs
		depmod kmod
	END
}
want_site() {
	cat <<-'END'
		/usr/lib/python3*/ensurepip python3-venv
		chromium chromium
		/usr/share/fonts/truetype/droid fonts-droid-fallback
	END
}

PATH=$PATH:/usr/sbin:/sbin
missing=$("want_${1:-tests}" | while read -r program package; do
	case $program in
	# Older versions pass no descriptors on.
	docker) command -v docker >/dev/null 2>&1 || if grep -q '^VERSION_CODENAME=bookworm' /etc/os-release; then echo docker.io; else echo "$package"; fi ;;
	runsc-of-trixie) runsc run --help 2>&1 | grep -q -e -pass-fd || echo "$package" ;;
	quadlet) [ -x /usr/libexec/podman/quadlet ] || if grep -q '^VERSION_CODENAME=bookworm' /etc/os-release; then echo quadlet; else echo "$package"; fi ;;
	/*) set -- $program; [ -x "$1" ] || echo "$package" ;;
	*) command -v "$program" >/dev/null 2>&1 || echo "$package" ;;
	esac
done | sort -u | tr '\n' ' ')
[ -n "$missing" ] || exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
	echo "not installed: $missing(tests that need them skip by name)"
	exit 0
fi
echo "installing: $missing"
export DEBIAN_FRONTEND=noninteractive
# Debian starts the services of a package; policy-rc.d with exit code 101 forbids it.
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
	trap 'rm -f $policy' EXIT
	printf '#!/bin/sh\nexit 101\n' >$policy
	chmod +x $policy
fi
apt-get update -q >/dev/null

# later installs a package of trixie on its predecessor, or only a file of it; the sources of the machine
# stay as they are. These packages depend on nothing but libc.
later() {
	dir=$(mktemp -d)
	mirror=$(apt-get indextargets --format '$(SITE)' 'Codename: bookworm' 'Created-By: Packages' | head -n 1)
	mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial"
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror trixie main" >"$dir/sources.list"
	package=$1 file=${2:-}
	set -- -q -o Dir::Etc::sourcelist="$dir/sources.list" -o Dir::Etc::sourceparts=- \
		-o Dir::State::lists="$dir/lists" -o Dir::Cache="$dir/cache" -o APT::Sandbox::User=root
	(cd "$dir" && apt-get "$@" update >/dev/null && apt-get "$@" download "$package" >/dev/null &&
		if [ "$file" ]; then
			dpkg-deb --fsys-tarfile "$package"_*.deb | tar -x -C / ".$file"
		else
			dpkg -i "$package"_*.deb >/dev/null
		fi)
	rm -r "$dir"
}
if grep -q '^VERSION_CODENAME=bookworm' /etc/os-release; then
	for late in runsc docker-compose kubectl quadlet; do
		case " $missing" in
		*" $late "*) ;;
		*) continue ;;
		esac
		case $late in
		quadlet) later podman /usr/libexec/podman/quadlet ;; # the rest of it needs a later libc
		*) later $late ;;
		esac
		missing=$(echo "$missing" | tr ' ' '\n' | grep -v -x -e "$late" -e '' | tr '\n' ' ')
	done
fi
[ -n "${missing% }" ] || exit 0
# shellcheck disable=SC2086
apt-get install -q -y --no-install-recommends $missing >/dev/null
