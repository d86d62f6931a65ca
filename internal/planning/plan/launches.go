package plan

import (
	"cmp"
	"math"
	"time"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

const (
	// minLaunches is how many launches a turn has at least, if its time has room for them: a verdict
	// needs as many.
	minLaunches = metric.LeastLaunches
	// minBlocks is how many blocks a launch has where the time has room for minLaunches of that length, and they take at
	// most twice as long as launching: of fewer no outlier can be clipped. fewBlocks is how many it has otherwise.
	minBlocks, fewBlocks = 8, 3
	// leastBlocks is how many blocks a launch has at least: in short budgets, where minLaunches need it, and
	// in every launch beyond them.
	leastBlocks = 2
	// leastLaunching is the share of the time that launching takes at least: where it is cheap, further launches cost
	// little and are degrees of freedom of the launches' error.
	leastLaunching = 0.05
)

// Allocate divides the budget into launches and blocks, and says in words how. A contrast of two arms
// over G launches of B blocks has the variance noise²/(G B) + 2 sd²/G, so the blocks per launch are
// sqrt(cost of a launch / cost of a block * noise² / (2 sd²)) (Kalibera and Jones 2013, ISMM, section
// 6), as long as there are enough launches and they take at most half of the time. noise is the standard
// deviation of the log ratio of two windows of a block.
func Allocate(o Observed, l Lengths, noise float64, fixed Lengths) (Lengths, record.Said) {
	block := o.block(l).Seconds()
	launch, budget := o.Launch.Seconds(), o.budgetWithLaunch().Seconds()
	sd := cmp.Or(o.LaunchSD, stat.UsualLaunchSD)
	least := max(min(minBlocks, 2*launch/block), fewBlocks)
	best := max(math.Sqrt(launch/block)*noise/(math.Sqrt2*sd), launch/block, least)
	best = max(min(best, launch/block/leastLaunching), least)
	l.Generations = max(o.leastLaunches(), int(budget/(launch+best*block)))
	if fixed.Generations > 0 {
		l.Generations = fixed.Generations
	}
	for fixed.Generations == 0 && l.Generations > 1 && budget/float64(l.Generations)-launch < o.minTime(l).Seconds() {
		l.Generations--
	}
	l.Blocks = max(2, perLaunch(budget, launch, block, l.Generations))
	if l.Generations == 1 {
		return l, oneLaunch(l.Blocks)
	}
	return l, someLaunches(l.Generations, l.Blocks, launch, block)
}

// StepHalf is the half-width that the interval of a layer against the one below is expected to have, in logs, if all of so
// many arms are measured in the rest of a turn, in every second block where blocks have fewer arms on average; +Inf where a
// verdict would lack launches. pair is the standard deviation of the log ratio of two windows of a block.
func StepHalf(o Observed, l Lengths, pair float64, arms int) float64 {
	if l, _ = Allocate(o, l, pair, Lengths{}); l.Generations < minLaunches {
		return math.Inf(1)
	}
	if o.Arms < arms {
		l.Blocks /= 2
	}
	return stat.StepHalf(pair, o.LaunchSD, l.Generations, l.Blocks, arms)
}

// Variance is that of the contrast of an arm with the mean of baseline and twin: of its windows, whose standard error is
// noise, and of so many launches. launchSD is that of an arm's launch effect; 0: not known yet. All in logs.
func Variance(noise, launchSD float64, launches int) float64 {
	const arms = 1 + 1.0/2 // of the arm, and of the mean of two
	sd := cmp.Or(launchSD, stat.UsualLaunchSD)
	return noise*noise + arms*sd*sd/float64(launches)
}

// perLaunch returns how many blocks each launch can have. Times are in seconds.
func perLaunch(budget, launch, block float64, launches int) int {
	return int((budget/float64(launches) - launch) / block)
}

// Another says whether one more launch is worth its time after made launches of this turn; if not,
// the present launch is measured until the time is up. Up to the least number of launches, one needs
// room for its least time of measuring; a further launch has to measure for as long as launching
// takes.
func Another(o Observed, l Lengths, made int) bool {
	if made < cmp.Or(o.Launches, minLaunches) {
		return o.Budget >= o.Launch+o.minTime(l)
	}
	return o.Budget >= 2*o.Launch+leastBlocks*o.block(l)
}

// Enough is the time of a turn in which a verdict has the launches that it needs, after so much time before the first
// window. A later launch may take longer than the one that was seen.
func Enough(o Observed, l Lengths, before time.Duration) time.Duration {
	const n = metric.LeastLaunches
	return before + time.Duration(slower*float64((n-1)*o.Launch+n*o.minTime(l)))
}

// minTime is the shortest time for which a launch measures.
func (o Observed) minTime(l Lengths) time.Duration { return max(leastBlocks*o.block(l), o.Launch/2) }

// leastLaunches is how many launches the rest of a turn has at least, if its time has room for them.
func (o Observed) leastLaunches() int { return max(1, cmp.Or(o.Launches, minLaunches)-o.Made) }

// block is the time of one block of all arms.
func (o Observed) block(l Lengths) time.Duration {
	return time.Duration(o.Arms) * (l.Window + l.Discard + o.Switch)
}

// budgetWithLaunch is the time that is left, plus that of the present launch if it stands.
func (o Observed) budgetWithLaunch() time.Duration {
	if o.Stands {
		return o.Budget + o.Launch
	}
	return o.Budget
}
