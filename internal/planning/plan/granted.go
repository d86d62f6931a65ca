package plan

import (
	"time"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/record"
)

// quotaPeriod is the kernel's default period of a CPU quota (cpu.cfs_period_us, cpu.max).
const quotaPeriod = 100 * time.Millisecond

// Granted returns the longest period of the CPU quotas and I/O limits of the load's arms and their
// neighbours; zero: nothing has a quota.
func (l *Load) Granted() (period time.Duration) {
	for _, a := range l.Arms {
		n := a.Neighbour
		if a.Limits.CPUs > 0 || hasQuota(a.Env) || n != nil && hasQuota(n.Env) {
			period = max(period, quotaPeriod)
		}
		for _, s := range a.Isolation {
			period = max(period, s.Period)
		}
	}
	return period
}

func hasQuota(e environment.Environment) bool { return e != nil && e.Capabilities().Quota }

// Settle returns the shortest settle time of the load.
//
// With a quota it is two periods. While an arm is paused, the runtime that its quota grants
// accumulates up to one period's. The period in which the arm thaws is cut short, because its timer
// runs on, and has the whole runtime: an arm with half of a CPU had 66 % of one where the window
// opened 20 ms after the thaw. In the first whole period each busy CPU may still hold a slice of
// runtime (5 ms, sched_cfs_bandwidth_slice_us; it outlives its period since Linux 5.4). From the
// second whole period on the arm runs as without a pause, unless its quota grants less in a period
// than the slices (docs/method.md).
//
// Beside a neighbour it is three half-lives of the kernel's load averages (PELT, 32 ms,
// kernel/sched/pelt.c), by which control groups share the CPUs. The averages decay in a pause; after
// three half-lives an eighth of the gap is left.
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

// SettleBesideWork is the shortest settle time beside other processes of the host, if arms compete with
// these in different ways: as a process or session of the root group, and as a control group, whose
// load average decays in a pause; 0 if all compete alike, so that the transient cancels.
func (l *Load) SettleBesideWork() time.Duration {
	inGroup := func(a PlannedArm) bool { return a.RunsAs == "" || a.RunsAs == record.AsService }
	for _, a := range l.Arms {
		if inGroup(a) != inGroup(l.Arms[0]) || len(a.Isolation) > 0 {
			return 3 * loadHalfLife
		}
	}
	return 0
}

// loadHalfLife is the half-life of PELT's load averages.
const loadHalfLife = 32 * time.Millisecond

// Shortest returns the shortest useful window of the load. With a quota that is two whole periods, so
// that it does not matter where in a period the window begins; one period would do, two halve the
// share of the settle time. A pod, or the isolation from a neighbour, may have a quota that tare does
// not see: the window has one default period then.
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
