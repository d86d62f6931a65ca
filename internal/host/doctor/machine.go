package doctor

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/proc"
)

// governor checks for a constant frequency: one that follows the load makes a fast arm faster.
func governor(f proc.FS) facts.Support {
	all, err := f.Governors()
	switch {
	case errors.Is(err, proc.ErrNoFrequency):
		return unknown("", "%v", err)
	case err != nil:
		return unknown("", governorUnread, err)
	case slices.Equal(all, []string{"performance"}):
		return yes(governorIs, all[0])
	}
	return no(setGovernor, governorIs, strings.Join(all, ", "))
}

// turbo checks that turbo is off: how long a CPU stays above its nominal frequency depends on its
// temperature and on the other CPUs.
func turbo(f proc.FS) facts.Support {
	on, err := f.Turbo()
	switch {
	case errors.Is(err, proc.ErrNoFrequency):
		return unknown("", turboUnknown)
	case err != nil:
		return unknown("", turboUnread, err)
	case on:
		return no(setTurboOff, turboOn)
	}
	return yes(turboOff)
}

// swap checks that no swap is used: an arm would wait for pages that were swapped out while
// another arm ran.
func swap(f proc.FS) facts.Support {
	all, err := f.Swaps()
	if err != nil {
		return unknown("", "%v", err)
	}
	var used, total float64
	for _, s := range all {
		used, total = used+float64(s.Used), total+float64(s.Size)
	}
	switch {
	case len(all) == 0:
		return yes("none")
	case used == 0:
		return yes(swapUnused, size(total))
	}
	return no(setSwapOff, swapUsed, size(used), size(total))
}

// slowClock is the time of reading the clock from which it slows down a load that times its
// operations. A time stamp counter takes some 30 ns, a device or a system call 200 to 2000 ns.
const slowClock = 150 * time.Nanosecond

func clock(f proc.FS) facts.Support {
	source, err := f.Word("sys/devices/system/clocksource/clocksource0/current_clocksource")
	if err != nil {
		return unknown("", clockUnknown, err)
	}
	if cost := clockCost(); cost > slowClock {
		return no(chooseTSC, clockSlow, source, cost)
	}
	return yes("%s", source)
}

// clockCost is the time of one reading, from the fastest of several batches, so that
// interruptions do not count.
func clockCost() time.Duration {
	const batches, readings = 10, 500
	best := time.Duration(1 << 62)
	for range batches {
		begin := time.Now()
		for range readings - 1 {
			//lint:ignore SA4017 the reading is what is measured
			time.Now()
		}
		best = min(best, time.Since(begin)/readings)
	}
	return best
}
