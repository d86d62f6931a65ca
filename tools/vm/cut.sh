# Cuts the power of the virtual machine at random instants; a part of tools/vm.sh. Killing QEMU loses all that
# the guest had not synced. After the next start a cleanup must leave nothing, and no record may have lost
# synced data. TARETEST_SEED repeats a sequence of instants.

# await waits until the machine has printed a word. It fails after a limit, or if the machine has ended.
await() {
	waited=0
	until grep -q "^$1" "$2"; do
		kill -0 $vm 2>/dev/null || refuse "the virtual machine ended before it said $1"
		[ $waited -lt "$limit" ] || refuse "the virtual machine did not say $1 within $limit s: TARETEST_VM_LIMIT gives it more"
		sleep 1
		waited=$((waited + 1))
	done
}

# random is a whole number below the first argument; it depends on the second one.
random() { awk -v n="$1" -v s="$seed$2" 'BEGIN { srand(s); rand(); print int(n * rand()) }'; }

# judge checks the output of the machine after a cut: no line "bad", and the record is at least as long as when
# it was synced last, with the same content.
judge() {
	sed -n 's/^bad/  &/p' "$1"
	! grep -q '^bad' "$1" || failed=1
	[ -n "$synced" ] || return 0
	set -- $(sed -n 's/^has //p' "$1") # file, bytes, sum
	if [ "${2:-0}" -lt "$bytes" ] || [ "${3:-}" != "$sum" ]; then
		echo "  bad: $bytes bytes of $file were synced with the sum $sum, it has ${2:-none} with ${3:-none}"
		failed=1
	fi
}

cuts() {
	seed=${TARETEST_SEED:-$(date +%s)}
	echo "power is cut $1 times, seed $seed"
	trap 'kill -9 $vm; exit 130' INT
	trap 'kill -9 $vm; exit 143' TERM
	failed=0 synced='' file='' bytes='' sum=''
	for i in $(seq 1 $(($1 + 1))); do
		said=$work/said$i words=''
		[ -z "$synced" ] || words="tare.synced=$file:$bytes"
		[ "$i" -le "$1" ] || words="$words tare.last=1"
		: >"$said"
		machine "$said" "$words" env >"$work/console$i" 2>&1 &
		vm=$!
		if [ "$i" -gt "$1" ]; then
			await exit "$said"
			wait $vm || true
			judge "$said"
			break
		fi
		phase=running longest=${TARETEST_VM_LONGEST:-40}
		if [ $((i % 4)) = 0 ]; then # during a cleanup, whose result the next start checks
			phase=cleaning longest=3
		fi
		await $phase "$said"
		[ $phase = cleaning ] || judge "$said"
		after=$(random "$longest" "$i").$(random 10 "x$i" | cut -c1)
		sleep "$after"
		kill -9 $vm
		wait $vm 2>/dev/null || true
		! grep '^bad the run' "$said" || failed=1
		if [ $phase = running ]; then
			synced=$(sed -n 's/^synced //p' "$said" | tail -n 1)
			set -- "$1" $synced
			file=${2:-} bytes=${3:-} sum=${4:-}
			set -- "$1"
		fi
		echo "cut $i: $after s after $phase; synced: ${synced:-nothing}"
	done
	[ $failed = 0 ] || refuse "something was left or lost"
	echo "nothing was left or lost"
}
