package run

import (
	"context"

	"github.com/tarelab/tare/record"
)

// rotate measures the blocks of a launch. It says whether the time of the turn is over, and sets
// schedule.another.
func (l *loadRun) rotate(ctx context.Context) (last bool, err error) {
	l.schedule.another = false
	for number := 0; ; number++ {
		if number > 0 && !l.schedule.hasTimeFor(len(l.schedule.armsOfBlock(number, l.instances.arms))) {
			return true, nil
		}
		if number == l.schedule.lengths.Blocks && !l.extend() {
			return false, nil
		}
		block, err := l.block(ctx, number)
		if replaced := l.run.programs.changed(); replaced != nil && ctx.Err() == nil {
			return false, replaced // the windows of a load that starts a program each time are of both files
		}
		l.results.add(record.Line{Block: block})
		if err != nil {
			return false, err
		}
		l.results.addHalves(block)
		l.schedule.measured = number + 1
		if err := l.workBetweenBlocks(); err != nil {
			return false, err
		}
	}
}

// extend gives the present launch the rest of the time, and says so, where no other launch follows.
// Whether one follows depends on the time alone. A result that is precise enough needs no more
// blocks, and the time that the question leaves belongs to the other arms.
func (l *loadRun) extend() bool {
	s := &l.schedule
	if s.another = s.worthAnother(); s.another || s.waiting() || !l.compares() {
		return false
	}
	if l.results.decide().Stop && l.run.config.Decided == nil {
		return false
	}
	s.extend()
	return true
}

// compares says whether an arm is running that can be compared with the baseline and its twin,
// which always run, or the plan has no such arm. An arm that ended comes back with the next launch
// only.
func (l *loadRun) compares() bool { return len(l.instances.arms) > 2 || len(l.load.Arms) <= 2 }
