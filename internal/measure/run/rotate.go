package run

import (
	"context"
	"time"

	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/record"
)

// rotate measures the blocks of a launch. It says whether the time ran out, and sets
// follows.
func (l *loadRun) rotate(ctx context.Context) (last bool, err error) {
	l.follows = false
	for b := 0; ; b++ {
		if b > 0 && l.remaining() < time.Duration(len(l.ofBlock(b)))*l.slotTime() {
			return true, nil
		}
		if b == l.lengths.Blocks && !l.extend() {
			return false, nil
		}
		block, err := l.block(ctx, b)
		l.take(record.Line{Block: block})
		if err != nil {
			return false, err
		}
		l.halves.Add(block, l.load.Baseline, plan.TwinName)
		l.measured = b + 1
		if err := l.breathe(); err != nil {
			return false, err
		}
	}
}

// extend gives the launch that stands the rest of the time, where no other launch follows.
// The time alone decides that. A result that is precise enough needs no more blocks, and
// the time that a first pass leaves belongs to the second.
func (l *loadRun) extend() bool {
	if l.follows = l.another(); l.follows || l.question != nil || !l.compares() || l.Decide(l.load.Workload, l.lines).Stop {
		return false
	}
	l.extended = l.lengths.Blocks + int(l.remaining()/(time.Duration(l.inBlock())*l.slotTime()))
	return true
}

// compares says whether an arm is up that can be compared with the baseline and its twin,
// which are always up. One that has ended comes back with the next launch only.
func (l *loadRun) compares() bool { return len(l.arms) > 2 || len(l.load.Arms) <= 2 }

// another says whether one more launch is worth its time in this turn: closing the arms of
// this one takes as long as it took the last time.
func (l *loadRun) another() bool {
	if n := l.Plan.Generations; n > 0 && l.launched >= n {
		return false
	}
	o := l.ahead()
	o.Budget -= l.closeTime
	o.Launch = l.launchTime
	return plan.Another(o, l.lengths, l.launched)
}
