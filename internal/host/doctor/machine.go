package doctor

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/proc"
)

// governor: a frequency that follows the load makes a fast arm faster.
func governor(f proc.FS) facts.Support {
	all, err := f.Governors()
	switch {
	case errors.Is(err, proc.ErrNoFrequency):
		return unknown("", "%v", err)
	case err != nil:
		return unknown("", "read the governor: %v", err)
	case slices.Equal(all, []string{"performance"}):
		return yes("governor performance")
	}
	return no("cpupower frequency-set -g performance", "governor %s", strings.Join(all, ", "))
}

// turbo: how long a CPU may go above its nominal frequency depends on heat and
// on what the other CPUs do.
func turbo(f proc.FS) facts.Support {
	on, err := f.Turbo()
	switch {
	case errors.Is(err, proc.ErrNoFrequency):
		return unknown("", "the kernel does not say whether the CPU has turbo")
	case err != nil:
		return unknown("", "read the turbo setting: %v", err)
	case on:
		return no("for the last per cent: echo 1 >/sys/devices/system/cpu/intel_pstate/no_turbo, or echo 0 >/sys/devices/system/cpu/cpufreq/boost", "turbo is on")
	}
	return yes("turbo is off")
}

// swap that is used makes an arm pay for pages that went out in another's turn.
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
		return yes("%s, unused", size(total))
	}
	return no("swapoff -a while measuring, if the memory suffices", "%s of %s used", size(used), size(total))
}

// slowClock is the cost of reading the clock above which a load that times its
// operations feels it: with a time stamp counter it is some 30 ns, with a device
// or a system call (200 to 2000 ns) more.
const slowClock = 150 * time.Nanosecond

func clock(f proc.FS) facts.Support {
	source, err := f.Word("sys/devices/system/clocksource/clocksource0/current_clocksource")
	if err != nil {
		return unknown("", "the kernel does not say its clock source: %v", err)
	}
	if cost := clockCost(); cost > slowClock {
		return no("choose tsc where the kernel offers it: /sys/devices/system/clocksource/clocksource0/available_clocksource",
			"%s, %v for a reading", source, cost)
	}
	return yes("%s", source)
}

// clockCost is the cheapest of several batches of readings, so that being
// interrupted does not count.
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
