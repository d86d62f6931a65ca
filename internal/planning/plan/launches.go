package plan

import (
	"cmp"
	"fmt"
	"math"
	"time"
)

// Launches that a run wants at least: fewer leave the launch effect with too few
// degrees of freedom. The blocks of a launch are at least minBlocks, and take at least
// half as long as the launch; where the time has room, lean times as long.
const (
	minGenerations = 3
	minBlocks      = 3
	lean           = 3
	minTail        = 2 // blocks of a launch beyond those that are wanted
)

// launchSD is the launch effect that is assumed until a run has measured it
// (method, section 0: 0.3 to 1.5 % were seen).
const launchSD = 0.007

// Allocate divides the budget into launches and blocks: blocks per launch =
// sqrt(cost of a launch / cost of a block * variance of a block / variance of a
// launch) (Kalibera and Jones 2013, ISMM, section 6), as long as there are
// enough launches, and most of the time is for blocks. noise is the standard
// deviation of the log ratio of two windows of a block.
func Allocate(o Observed, l Lengths, noise float64, fixed Lengths) (Lengths, string) {
	block := o.block(l).Seconds()
	launch, budget := o.Launch.Seconds(), o.whole().Seconds()
	best := max(math.Sqrt(launch/block)*noise/launchSD, lean*launch/block, minBlocks)
	l.Generations = max(o.wanted(), int(budget/(launch+best*block)))
	if fixed.Generations > 0 {
		l.Generations = fixed.Generations
	}
	for fixed.Generations == 0 && l.Generations > 1 && budget/float64(l.Generations)-launch < o.least(l).Seconds() {
		l.Generations--
	}
	l.Blocks = max(2, perLaunch(budget, launch, block, l.Generations))
	if l.Generations == 1 {
		return l, fmt.Sprintf("one launch of %d blocks: the budget has no room for more", l.Blocks)
	}
	return l, fmt.Sprintf("about %d launches of %d blocks (a launch takes %.1f s, a block %.2g s)", l.Generations, l.Blocks, launch, block)
}

// perLaunch is how many blocks each of so many launches can have.
func perLaunch(budget, launch, block float64, launches int) int {
	return int((budget/float64(launches) - launch) / block)
}

// Another says whether one more launch is worth its time after made launches of this
// turn; if not, the launch that stands is measured until the time is up. The launches that
// a run wants at least need room for what is least; a further one has to measure for as
// long as it takes.
func Another(o Observed, l Lengths, made int) bool {
	if made < o.wanted() {
		return o.Budget >= o.Launch+o.least(l)
	}
	return o.Budget >= 2*o.Launch+minTail*o.block(l)
}

// least is the shortest time in which a launch measures.
func (o Observed) least(l Lengths) time.Duration { return max(minBlocks*o.block(l), o.Launch/2) }

// wanted is how many launches a turn has at least, where the time has room for them.
func (o Observed) wanted() int { return cmp.Or(o.Launches, minGenerations) }

// block is the time of one block of all arms.
func (o Observed) block(l Lengths) time.Duration {
	return time.Duration(o.Arms) * (l.Window + l.Discard + o.Switch)
}

// whole is the time that is left, with that of the launch that stands.
func (o Observed) whole() time.Duration {
	if o.Stands {
		return o.Budget + o.Launch
	}
	return o.Budget
}
