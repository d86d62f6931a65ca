# What tools/vm.sh and tools/uml.sh share: $kind is the name of the make target.

refuse() {
	echo "make $kind: $*"
	exit 1
}

# userland makes a root file system of this host's release in $work/root.
userland() {
	# A directory, not an image: while mmdebstrap's own hooks run /proc is mounted.
	mmdebstrap --quiet --mode=root --variant=minbase --include="$packages" \
		"$(. /etc/os-release && echo "$VERSION_CODENAME")" "$work/root"
	(cd "$work/root" && rm -rf var/cache/apt var/lib/apt/lists usr/share/doc usr/share/locale usr/share/man && mkdir vm)
}

# put compiles the tests of a package, with their data, for the guest.
put() {
	name=$(echo "$1" | tr / -)
	mkdir -p "$work/vm/src/$1"
	go test -c -ldflags '-s -w' -o "$work/vm/$name.test" "./$1"
	[ ! -d "$1/testdata" ] || cp -r "$1/testdata" "$work/vm/src/$1/"
}

# script has the guest run a file, with tare beside it, and not tests.
script() {
	cp "$1" "$work/vm/tests"
	: >"$work/vm/plan"
	go build -o "$work/vm/tare" ./cmd/tare
}

# load puts into $work/vm what the guest runs: the plan of this kind, or what the words
# of the command line name (packages, each with its tests, or a script).
load() {
	mkdir -p "$work/vm"
	cp tools/vm/init tools/vm/tests "$work/vm/"
	cp "tools/$kind/needs" "$work/vm/"
	chmod +x "$work/vm/init"
	[ -z "${TARETEST_FLAKY:-}" ] || : >"$work/vm/again"
	if [ $# = 0 ]; then
		grep -v '^#' "tools/$kind/plan" >"$work/vm/plan"
	elif [ -f "$1" ]; then
		script "$1"
	else
		while [ $# -gt 0 ]; do
			echo "$1 ${2:-.}"
			shift
			[ $# = 0 ] || shift
		done >"$work/vm/plan"
	fi
	grep -v '^systemd$' "$work/vm/plan" | cut -d' ' -f1 | sort -u | while read -r package; do put "$package"; done
}

# over is the end: the guest's tests wrote how they ended into a file, and what failed at
# first. The machine's own status is the second word.
over() {
	[ "$2" != 124 ] || refuse "not done within $limit s: TARETEST_$(echo "$kind" | tr a-z A-Z)_LIMIT gives it more"
	status=$(sed -n 's/^exit \([0-9]*\).*/\1/p' "$1")
	[ -n "$status" ] || refuse "the machine ended ($2) before its tests did"
	[ -z "${TARETEST_FLAKY:-}" ] || tr -d '\r' <"$1" | sed -n "s/^once: \(.*\)/$(git rev-parse --short HEAD) \1 (in a guest of make $kind)/p" >>"$TARETEST_FLAKY"
	exit "$status"
}
