#!/bin/sh
# Tests a release as its users get it: made twice, installed, used and removed. As root on Debian; nothing is installed
# on the host but what tools/deps.sh names. Arguments are parts (twice, archive, sbom, krew, deb, rpm, image); without
# any, all. The clean root and a Python environment stay in the user's cache. TestClusterJob has the image as a Job.
set -eu
cd "$(dirname "$0")/../.."
sh tools/deps.sh release
PATH=$PATH:/usr/sbin:/sbin
version=v0.0.1
number=${version#v}
limit=$((36 << 20)) # bytes of a binary
budget=${TARETEST_BUDGET:-30s}
cache=${XDG_CACHE_HOME:-$HOME/.cache}/tare-release
mkdir -p "$cache"
work=$(mktemp -d /var/tmp/tare-release-XXXXXX)
export HOME_URL

# end unmounts the root of a test; removing it must not follow a mount.
end() {
	[ -z "$daemon" ] || { kill $daemon && wait $daemon || true; }
	for at in dev sys proc ''; do ! mountpoint -q "$work/root/$at" || umount -l "$work/root/$at"; done
	rm -rf --one-file-system "$work"
}
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
failed='' daemon=''
bad() {
	echo "bad: $part: $*"
	failed="$failed $part"
}

# clone makes a release of HEAD in a clone.
clone() {
	git clone -q . "$work/$1"
	GOFLAGS='' sh "$work/$1/tools/release/make.sh" $version >"$work/$1.log" 2>&1 || {
		cat "$work/$1.log"
		exit 1
	}
}

twice() {
	clone a-second-directory
	diff "$dist/SHA256SUMS" "$work/a-second-directory/dist/SHA256SUMS" || bad 'two releases of one commit differ'
	(cd "$dist" && sha256sum -c --quiet SHA256SUMS) || bad 'SHA256SUMS is not that of the files'
	rm -rf "$work/a-second-directory"
}

# says checks the version that a tare prints.
says() {
	"$@" version >"$work/said" || bad "$* version ends with $?"
	grep -q "^tare $version ($(git rev-parse --short=12 HEAD)) go" "$work/said" || bad "$* version: $(cat "$work/said")"
	grep -qxF "$HOME_URL" "$work/said" || bad "$* version names another home"
}

archive() {
	for arch in amd64 arm64; do
		top=tare_${number}_linux_$arch
		tar -C "$work" -xzf "$dist/$top.tar.gz"
		[ "$(stat -c %s "$work/$top/tare")" -le $limit ] || bad "$arch: $(stat -c %s "$work/$top/tare") bytes, at most $limit"
		! ldd "$work/$top/tare" >/dev/null 2>&1 || bad "$arch: the binary is not static"
		[ -s "$work/$top/LICENSES-OF-MODULES" ] || bad "$arch: no licences of the modules"
	done
	says "$work/tare_${number}_linux_amd64/tare"
	ruby -c "$dist/tare.rb" >/dev/null || bad 'the formula is not Ruby'
	"$work/tare_${number}_linux_amd64/tare" version --format json | python3 -m json.tool >/dev/null || bad 'version is not JSON'
}

# sbom checks the bills of materials with the validator of SPDX's Python tools.
sbom() {
	python=$cache/python
	[ -x "$python/bin/pyspdxtools" ] || {
		python3 -m venv "$python"
		"$python/bin/pip" install -q 'spdx-tools==0.8.3'
	}
	for arch in amd64 arm64; do
		"$python/bin/pyspdxtools" -i "$dist/tare_${number}_linux_$arch.spdx.json" || bad "$arch: the bill of materials is not valid"
	done
	sed 's/SPDX-2.3/SPDX-9/' "$dist/tare_${number}_linux_amd64.spdx.json" >"$work/wrong.spdx.json"
	! "$python/bin/pyspdxtools" -i "$work/wrong.spdx.json" >/dev/null 2>&1 || bad 'the validator takes anything'
}

# krew installs the archive with kubectl's plugin manager, and runs the plugin.
krew() {
	(cd tools/release/krew && go build -o "$work/krew" sigs.k8s.io/krew/cmd/krew)
	export KREW_ROOT="$work/krew-root"
	"$work/krew" install --manifest="$dist/tare.krew.yaml" --archive="$dist/tare_${number}_linux_amd64.tar.gz" >"$work/said" 2>&1 || bad "$(cat "$work/said")"
	old=$PATH PATH=$KREW_ROOT/bin:$PATH
	says kubectl tare
	kubectl tare run --help >"$work/said" || bad "help ends with $?"
	grep -q '^Usage: kubectl tare run' "$work/said" || bad "$(head -n 3 "$work/said")"
	# krew links the plugin alone; its caveats have this line.
	sh -c "$(sed -n 's/^    *\(ln -s .*\)/\1/p' "$dist/tare.krew.yaml")" || bad 'the line for completion does not work'
	kubectl __complete tare run --budg >"$work/said" || bad "completion ends with $?"
	grep -q '^--budget' "$work/said" || bad "completion: $(cat "$work/said")"
	! kubectl tare runn 2>"$work/said" || bad 'no error of a wrong command'
	grep -q '^kubectl tare: no command' "$work/said" || bad "$(cat "$work/said")"
	PATH=$old
}

# fresh mounts a clean root of this host's release at $work/root.
fresh() {
	codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
	[ -s "$cache/$codename.tar" ] ||
		mmdebstrap --quiet --mode=root --variant=minbase --include=runc "$codename" "$cache/$codename.tar"
	mkdir "$work/root"
	# A mount of the host's namespace, because a root in a namespace of its own is a container.
	mount -t tmpfs -o mode=755 tare-release "$work/root"
	tar -C "$work/root" -xf "$cache/$codename.tar"
	mount -t proc proc "$work/root/proc"
	mount --rbind /sys "$work/root/sys"
	mount --rbind /dev "$work/root/dev"
	mount --make-rslave "$work/root/sys"
	mount --make-rslave "$work/root/dev"
	in_root sh -c 'cat /etc/resolv.conf >/dev/null 2>&1; true'
	files >"$work/before"
}
gone() {
	for at in dev sys proc ''; do umount -R "$work/root/$at"; done
	rmdir "$work/root"
}
in_root() { chroot "$work/root" env -i PATH="$PATH" HOME=/root TERM=dumb "$@"; }

# files are all files of the root but logs and what dpkg and rpm write about themselves.
files() {
	(cd "$work/root" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./run/lock -o -path ./var/log -o -path ./var/lib/dpkg -o -path ./var/lib/rpm -o -path ./root/.rpmdb \) -prune -o -print | sort)
}

# used checks an installed package, and measures from it.
used() {
	says chroot "$work/root" /usr/bin/tare
	[ "$(readlink "$work/root/usr/bin/kubectl-tare")" = tare ] || bad 'no kubectl-tare'
	[ "$(readlink "$work/root/usr/bin/kubectl_complete-tare")" = tare ] || bad 'no kubectl_complete-tare'
	began=$(date +%s)
	in_root sh -c "cd /root && tare run --budget $budget -q -o result" >"$work/said" 2>&1 || bad "tare run ends with $?: $(cat "$work/said")"
	echo "tare run from the package took $(($(date +%s) - began)) s:"
	sed -n '1,12p' "$work/said"
	in_root tare cleanup >"$work/said" 2>&1 || bad "tare cleanup: $(cat "$work/said")"
	[ -s "$work/root/root/result/report.html" ] || bad 'no page'
	mkdir -p "$work/root/var/cache/tare/data"
}

# removed checks that only the result and the data sets are left.
removed() {
	[ -e "$work/root/var/cache/tare/data" ] || bad 'the data sets are gone'
	rm -rf "$work/root/root/result" "$work/root/var/cache/tare"
	files | diff "$work/before" - || bad 'files are left or gone'
}

deb() {
	fresh
	cp "$dist/tare_${number}_amd64.deb" "$work/root/tare.deb"
	in_root dpkg -i /tare.deb >"$work/said" 2>&1 || bad "$(cat "$work/said")"
	rm "$work/root/tare.deb"
	[ -z "$(in_root dpkg -V tare)" ] || bad 'dpkg -V finds changes'
	used
	# A killed run is undone by the removal.
	chroot "$work/root" env -i PATH="$PATH" HOME=/root sh -c 'cd /root && exec tare run --workload commit --set commit.log=1MiB --budget 5m -q -o killed' >"$work/said" 2>&1 &
	pid=$!
	until [ -s "$work/root/root/killed/record.jsonl" ] || ! kill -0 $pid 2>/dev/null; do sleep 0.2; done
	! in_root dpkg -r tare >"$work/said" 2>&1 || bad 'removed while a run goes on'
	grep -q 'a run is still going; wait for it' "$work/said" || bad "$(cat "$work/said")"
	# shellcheck disable=SC2046
	kill -9 $(pgrep -P $pid -f ' __guard') $pid
	wait $pid 2>/dev/null || true
	: >"$work/root/var/lib/tare/journal/cut.jsonl"
	! in_root dpkg -r tare >"$work/said" 2>&1 || bad 'removed with a damaged journal'
	grep -q 'rm /var/lib/tare/journal/cut.jsonl' "$work/said" || bad "$(cat "$work/said")"
	rm "$work/root/var/lib/tare/journal/cut.jsonl"
	in_root dpkg -r tare >"$work/said" 2>&1 || bad "$(cat "$work/said")"
	grep -q 'data sets stay in /var/cache/tare' "$work/said" || bad "$(cat "$work/said")"
	in_root dpkg -P tare >"$work/said" 2>&1 || bad "$(cat "$work/said")"
	rm -rf "$work/root/root/killed"
	removed
	gone
}

rpm_() { command rpm --root "$work/root" "$@" >"$work/said" 2>&1 || bad "rpm $*: $(cat "$work/said")"; }
rpm() {
	fresh
	rpm_ --nodeps -i "$dist/tare-$number-1.x86_64.rpm"
	rpm_ -V tare
	used
	rpm_ --nodeps -e tare
	removed
	gone
}

# docker_up starts a daemon without a network, which ends with this script.
docker_up() {
	at=$work/docker
	mkdir "$at"
	export DOCKER_HOST="unix://$at/s"
	echo '{}' >"$at/daemon.json" # not the host's
	dockerd --config-file "$at/daemon.json" --data-root "$at/data" --exec-root "$at/exec" --pidfile "$at/pid" --host "$DOCKER_HOST" \
		--exec-opt native.cgroupdriver=cgroupfs --bridge=none --iptables=false --ip6tables=false --ip-masq=false --ip-forward=false >"$at/log" 2>&1 &
	daemon=$!
	for _ in $(seq 120); do
		! docker version >/dev/null 2>&1 || return 0
		kill -0 $daemon 2>/dev/null || break
		sleep 0.5
	done
	tail -n 5 "$at/log"
	daemon=''
	return 1
}

# privileged prints the flags of a privileged container. Docker adds capabilities to it that this root may not have.
privileged() {
	name=$1
	shift
	if "$@" --privileged "$name" version >/dev/null 2>&1; then
		echo --privileged
	else
		echo --cap-add ALL --cap-drop SYS_RESOURCE --security-opt seccomp=unconfined --security-opt apparmor=unconfined
	fi
}

# image runs the image of the release with an engine, as docs/container.md says.
image() {
	docker_up
	mkdir "$work/results"
	for engine in docker podman; do
		$engine load -q -i "$dist/tare_${number}_image_amd64.tar" >"$work/said" 2>&1 || {
			bad "$engine load: $(cat "$work/said")"
			continue
		}
		name=$(sed -n 's/^Loaded image[^:]*: *//p' "$work/said" | tail -n 1)
		run="$engine run --rm --network none"
		# Podman raises limits, for which root may lack a right; crun knows no host with both versions of control groups.
		[ $engine = docker ] || run="podman --runtime $(command -v runc) run --rm --network none --ulimit nofile=$(ulimit -Hn) --ulimit nproc=$(own_processes)"
		# shellcheck disable=SC2086
		says $run "$name"
		# shellcheck disable=SC2086
		! $run "$name" run --budget 5s >"$work/said" 2>&1 || bad "$engine: the container was taken for the host"
		grep -q 'which is not the host' "$work/said" || bad "$engine: $(cat "$work/said")"
		# shellcheck disable=SC2046,SC2086
		(cd "$work/results" && $run $(privileged "$name" $run) --pid=host -v "$PWD:$PWD" -w "$PWD" "$name" run --budget "$budget" -q -o $engine) >"$work/said" 2>&1 ||
			bad "$engine: tare run ends with $?: $(cat "$work/said")"
		sed -n '1,12p' "$work/said"
		[ -s "$work/results/$engine/report.html" ] || bad "$engine: no result on the host"
		$engine rmi "$name" >/dev/null || bad "$engine: the image is not removed"
	done
	kill $daemon
	wait $daemon || true
	daemon=''
}

# own_processes is the limit of processes of this root, at most kernel.pid_max as Podman wants it.
own_processes() {
	most=$(cat /proc/sys/kernel/pid_max) own=$(prlimit --nproc --noheadings -o HARD)
	[ "$own" != unlimited ] && [ "$own" -lt "$most" ] && echo "$own" || echo "$most"
}

part=make
clone a-first-directory
dist=$work/a-first-directory/dist
ls -l "$dist"
[ $# -gt 0 ] || set -- twice archive sbom krew deb rpm image
for part; do
	echo "== $part"
	began=$(date +%s)
	$part
	echo "== $part took $(($(date +%s) - began)) s"
done
[ -z "$failed" ] || {
	echo "failed:$failed"
	exit 1
}
