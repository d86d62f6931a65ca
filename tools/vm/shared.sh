# Shared by tools/vm.sh and tools/uml.sh; $kind is the name of the make target.

refuse() {
	echo "make $kind: $*"
	exit 1
}

# userland makes a root file system of this host's release in $work/root.
userland() {
	# A directory instead of an image, because /proc is mounted while mmdebstrap's hooks run.
	mmdebstrap --quiet --mode=root --variant=minbase --include="$packages" \
		"$(. /etc/os-release && echo "$VERSION_CODENAME")" "$work/root"
	(cd "$work/root" && rm -rf var/cache/apt var/lib/apt/lists usr/share/doc usr/share/locale usr/share/man && mkdir vm)
}

# put compiles the tests of a package for the guest and copies their data.
put() {
	name=$(echo "$1" | tr / -)
	mkdir -p "$work/vm/src/$1"
	go test -c -ldflags '-s -w' -o "$work/vm/$name.test" "./$1"
	[ ! -d "$1/testdata" ] || cp -r "$1/testdata" "$work/vm/src/$1/"
}

# script lets the guest run a file, with tare beside it, instead of tests.
script() {
	cp "$1" "$work/vm/tests"
	: >"$work/vm/plan"
	go build -o "$work/vm/tare" ./cmd/tare
}

# load fills $work/vm with what the guest runs: the plan of this kind, or the packages (each with its tests) or
# the script of the command line.
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

# over reads the file with the results of the guest's tests and ends this script with their status. The second
# argument is the status of the machine itself.
over() {
	[ "$2" != 124 ] || refuse "not done within $limit s: TARETEST_$(echo "$kind" | tr a-z A-Z)_LIMIT gives it more"
	status=$(sed -n 's/^exit \([0-9]*\).*/\1/p' "$1")
	[ -n "$status" ] || refuse "the machine ended ($2) before its tests did"
	[ -z "${TARETEST_FLAKY:-}" ] || tr -d '\r' <"$1" | sed -n "s/^once: \(.*\)/$(git rev-parse --short HEAD) \1 (in a guest of make $kind)/p" >>"$TARETEST_FLAKY"
	exit "$status"
}
