package doctor

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/record"
)

// governor checks for a constant frequency: one that follows the load makes a fast arm faster.
func governor(f proc.FS) facts.Support {
	all, err := f.Governors()
	switch {
	case errors.Is(err, proc.ErrNoFrequency):
		return unknown(record.Say("no_cpufreq"))
	case err != nil:
		return facts.Unclear(fmt.Errorf("read the governor: %w", err))
	case slices.Equal(all, []string{"performance"}):
		return yes(record.Say("governor", "name", all[0]))
	}
	return facts.Unsupported(record.Say("governor", "name", strings.Join(all, ", ")), facts.Command(setPerformance))
}

// turbo checks that turbo is off: how long a CPU stays above its nominal frequency depends on its
// temperature and on the other CPUs.
func turbo(f proc.FS) facts.Support {
	on, err := f.Turbo()
	switch {
	case errors.Is(err, proc.ErrNoFrequency):
		return unknown(record.Say("turbo_unknown"))
	case err != nil:
		return facts.Unclear(fmt.Errorf("read the turbo setting: %w", err))
	case on:
		return facts.Unsupported(record.Say("turbo_on"), record.Say("set_turbo_off"))
	}
	return yes(record.Say("turbo_off"))
}

// swap checks that no swap is used: an arm would wait for pages that were swapped out while
// another arm ran.
func swap(f proc.FS) facts.Support {
	all, err := f.Swaps()
	if err != nil {
		return facts.Unclear(err)
	}
	var used, total float64
	for _, s := range all {
		used, total = used+float64(s.Used), total+float64(s.Size)
	}
	switch {
	case len(all) == 0:
		return yes(record.Say("no_swap"))
	case used == 0:
		return yes(record.Say("swap_unused", "total", total))
	}
	return facts.Unsupported(record.Say("swap_used", "used", used, "total", total), record.Say("set_swap_off"))
}

// slowClock is the time of reading the clock from which it slows down a load that times its
// operations. A time stamp counter takes some 30 ns, a device or a system call 200 to 2000 ns.
const slowClock = 150 * time.Nanosecond

func clock(f proc.FS) facts.Support {
	source, err := f.Word("sys/devices/system/clocksource/clocksource0/current_clocksource")
	if err != nil {
		return facts.Unclear(fmt.Errorf("the kernel does not say its clock source: %w", err))
	}
	if cost := clockCost(); cost > slowClock {
		return facts.Unsupported(record.Say("clock_slow", "name", source, "time", cost.Seconds()), record.Say("choose_tsc"))
	}
	return named(source)
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
