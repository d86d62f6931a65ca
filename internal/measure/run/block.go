package run

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/reserve"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/record"
)

// block visits every arm of a block once, in random order. A dropped window leaves the other
// windows of the block as they are. When ctx ends, block returns what was measured so far with
// the error of ctx.
func (l *loadRun) block(ctx context.Context, number int) (*record.Block, error) {
	seed, launch := l.schedule.plan.Record.Seed, l.schedule.launch
	b := &record.Block{Workload: l.load.Name, Generation: launch, Number: number}
	arms := l.schedule.armsOfBlock(number, l.instances.arms)
	for _, i := range plan.Order(seed, l.load.Name, launch, number, len(arms)) {
		a := arms[i]
		if !slices.Contains(l.instances.arms, a) {
			continue // it ended in an earlier window of this block
		}
		isBaseline := a.planned.Name == l.load.Baseline
		spec := l.schedule.windowSpec(number, isBaseline)
		if err := l.run.watch.Ahead(lookBetween); err != nil {
			return b, err
		}
		w, rate, err := l.window(ctx, a, spec)
		if ctx.Err() != nil {
			w.Dropped = record.DropAbandoned
			b.Windows = append(b.Windows, w)
			return b, ctx.Err()
		}
		if errors.Is(err, wire.ErrNotFrozen) {
			l.run.guard.Attend()
			_ = a.instance.session.PausePatiently() // a process that was about to end has ended then, and dropReason says so
		}
		w.Dropped, w.Detail = dropReason(a, w, err)
		b.Windows = append(b.Windows, w)
		if errors.Is(err, reserve.ErrShort) {
			return b, err
		}
		if w.Dropped != "" {
			l.results.dropped++
			if err := l.removeEnded(); err != nil {
				return b, err
			}
		} else if isBaseline {
			l.results.steady.add(w, rate)
		}
		e := l.event("measure")
		e.Arm, e.Block = a.planned.Name, number
		l.showProgressAtTimes(e)
	}
	return b, nil
}

// removeEnded removes arms whose processes ended or do not freeze from this launch; the next launch
// starts them again. Without the baseline the run ends.
func (l *loadRun) removeEnded() error {
	l.run.guard.Attend()
	for _, s := range slices.Clone(l.instances.all) {
		err := s.died()
		if err == nil && !s.session.Paused() {
			err = s.session.PausePatiently()
		}
		if err != nil {
			arms := l.instances.armsOn(s)
			detail := withLog(err, lastLines(s.log.Name()))
			if err := errors.Join(l.instances.remove(s), l.armsEnded(arms, err, detail)); err != nil {
				return err
			}
			continue
		}
		if err := l.removeEndedNeighbour(s); err != nil {
			return err
		}
	}
	return nil
}

// removeEndedNeighbour removes the arms that have a neighbour from this launch if their neighbour
// has ended. The other arms on the instance go on.
func (l *loadRun) removeEndedNeighbour(s *instance) error {
	if s.neighbour == nil {
		return nil
	}
	err := s.neighbour.trouble()
	if err == nil {
		return nil
	}
	arms := l.instances.removeArms(func(a *arm) bool { return a.instance == s && a.planned.Neighbour != nil })
	detail := neighbourEnded(s.neighbour.planned.Name, err, lastLines(s.neighbour.log.Name()))
	return errors.Join(s.undoIsolation(), s.endNeighbour(), l.armsEnded(arms, hint.New(errors.New(detail), hint.Of(err)), detail))
}

// armsEnded warns of arms that ended after their launch. Their earlier windows count. An arm that
// fails in three launches is given up.
func (l *loadRun) armsEnded(arms []*arm, why error, detail string) error {
	for _, a := range arms {
		name := a.planned.Name
		if name == l.load.Baseline || a.planned.Twin {
			return hint.New(fmt.Errorf("arm %s: %s", name, detail), hint.Of(why))
		}
		left := record.Left{Workload: l.load.Name, Arm: name, Reason: record.InProse(detail), Remedy: record.InProse(hint.Of(why))}
		if left.Remedy.IsZero() {
			left.Remedy = saidLogs()
		}
		if l.schedule.countFailure(name) {
			l.giveUp(left)
		}
		l.run.rec.warn(endedInLaunch(left.Reason, left.Remedy).of(l.load.Name, name))
	}
	return nil
}
