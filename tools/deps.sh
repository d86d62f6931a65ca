#!/bin/sh
# Brings what the tests need, or with the argument ceph what those of Ceph images
# need, with cluster what make cluster and its tests need, with vm what make vm
# needs. As root on Debian it installs packages, without starting their services;
# elsewhere it names what is missing, and the tests that need it skip by name.
set -eu

# Program, or pattern of its path, and the package that has it.
want_ceph() {
	cat <<-'END'
		ceph ceph-common
		rbd ceph-common
		rbd-fuse rbd-fuse
		ceph-mon ceph-mon
		ceph-mgr ceph-mgr
		ceph-osd ceph-osd
	END
}
want_tests() {
	cat <<-'END'
		runc runc
		crun crun
		podman podman
		newuidmap uidmap
		slirp4netns slirp4netns
		dockerd docker.io
		rootlesskit rootlesskit
		iptables iptables
		ctr containerd
		mmdebstrap mmdebstrap
		busybox busybox-static
		tmux tmux
		mariadbd mariadb-server
		sysbench sysbench
		fio fio
		stress-ng stress-ng
		stress stress
		mkfs.ext4 e2fsprogs
		mkfs.xfs xfsprogs
		mkfs.btrfs btrfs-progs
		/usr/lib/postgresql/*/bin/postgres postgresql
		/usr/lib/postgresql/*/bin/pgbench postgresql
		clickhouse-server clickhouse-server
		clickhouse-client clickhouse-client
		clickhouse-benchmark clickhouse-tools
		chromium chromium
		/usr/lib/python3/dist-packages/prometheus_client/openmetrics python3-prometheus-client
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

PATH=$PATH:/usr/sbin:/sbin
missing=$("want_${1:-tests}" | while read -r program package; do
	case $program in
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
# Debian starts a service with its package; a policy of 101 forbids it.
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
	trap 'rm -f $policy' EXIT
	printf '#!/bin/sh\nexit 101\n' >$policy
	chmod +x $policy
fi
apt-get update -q >/dev/null
# shellcheck disable=SC2086
apt-get install -q -y --no-install-recommends $missing >/dev/null
