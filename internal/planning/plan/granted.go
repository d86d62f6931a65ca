package plan

import (
	"time"

	"github.com/tarelab/tare/internal/arms/environment"
)

// quotaPeriod is the period by which the kernel grants CPU time, where nobody chose
// another.
const quotaPeriod = 100 * time.Millisecond

// Granted is the longest period by which the kernel grants an arm of the load, or a
// neighbour, the CPU time or the I/O that it is bounded to; zero: none is bounded.
func (l *Load) Granted() (period time.Duration) {
	for _, a := range l.Arms {
		n := a.Neighbour
		if a.Limits.CPUs > 0 || quota(a.Env) || n != nil && quota(n.Env) {
			period = max(period, quotaPeriod)
		}
		for _, s := range a.Isolation {
			period = max(period, s.Period)
		}
	}
	return period
}

func quota(e environment.Environment) bool { return e != nil && e.Capabilities().Quota }

// Settle is the shortest settle time of the load. While an arm is paused its account
// becomes full. The period in which it is thawed is cut short by the clock of its group
// and yet has the whole account: an arm that may use half of a CPU had 66 % of one
// where the window opened after 20 ms. In the first whole period each busy CPU may
// still hold a slice of the account (5 ms, sched_cfs_bandwidth_slice_us; it outlives its
// period since Linux 5.4). From the second one on it is as without a pause, but for a
// quota that takes less than the slices in a period (docs/method.md).
//
// Beside a neighbour, groups divide the CPUs by averages of their load, which fall to
// nothing in a pause and come back by a half every 32 ms (kernel/sched/pelt.c); after
// three halves an eighth of it is left.
func (l *Load) Settle() time.Duration {
	if granted := l.Granted(); granted > 0 {
		return 2 * granted
	}
	for _, a := range l.Arms {
		if a.Neighbour != nil {
			return 3 * loadHalfLife
		}
	}
	return 0
}

const loadHalfLife = 32 * time.Millisecond

// Shortest is the shortest window that means something for the load: whole periods of
// what is granted, so that it does not matter where in one it begins. One would do; two
// halve what the settle time costs. What protects from a neighbour, or what a pod has,
// may work by such periods, too.
func (l *Load) Shortest() time.Duration {
	if granted := l.Granted(); granted > 0 {
		return 2 * granted
	}
	for _, a := range l.Arms {
		if a.Pod || a.Neighbour != nil {
			return quotaPeriod
		}
	}
	return slots[0].Window
}
