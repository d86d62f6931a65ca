package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/reserve"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/record"
)

// steadyLength is how long the baseline runs on, unfrozen, for the
// transparency check: well beyond the window.
func (l *loadRun) steadyLength() time.Duration {
	return min(max(3*l.lengths.Window, 300*time.Millisecond), 4*time.Second)
}

// steadyHere says whether the baseline runs on in this block: once in a launch, in
// its middle, so that its windows lie on both sides of that.
func (l *loadRun) steadyHere(number int) bool {
	return number == l.lengths.Blocks/2 && l.Plan.Window == 0 && l.load.Stages.Windowed == nil
}

// whole says that the middle of this block's windows is not marked: where they are short,
// that is half of what tare takes of a CPU in them, and a third of the blocks is enough
// to compare the halves. All arms of a block are alike in it, and a block of all arms goes
// with one of the question alone.
func (l *loadRun) whole(number int) bool {
	const short = 50 * time.Millisecond
	return l.lengths.Window < short && number/2%3 != 0
}

// block visits every arm of the block once in random order. A window that does not
// count leaves the others of the block as they are. When ctx ends, what was
// measured so far is returned with its error.
func (l *loadRun) block(ctx context.Context, number int) (*record.Block, error) {
	seed := l.Plan.Record.Seed
	b := &record.Block{Workload: l.load.Name, Generation: l.generation, Number: number}
	arrivals := plan.ArrivalSeed(seed, l.load.Name, l.generation, number)
	arms, whole := l.ofBlock(number), l.whole(number)
	for _, i := range plan.Order(seed, l.load.Name, l.generation, number, len(arms)) {
		a := arms[i]
		if !slices.Contains(l.arms, a) {
			continue // lost in an earlier window of this block
		}
		stretch := time.Duration(0)
		if a.Name == l.load.Baseline && l.steadyHere(number) {
			stretch = l.steadyLength()
		}
		if err := l.watch.Ahead(lookBetween); err != nil {
			return b, err
		}
		w, rate, err := l.window(ctx, a, arrivals, stretch, whole)
		if ctx.Err() != nil {
			w.Dropped = record.DropAbandoned
			b.Windows = append(b.Windows, w)
			return b, ctx.Err()
		}
		if errors.Is(err, wire.ErrNotFrozen) {
			l.guard.Attend()
			_ = a.session.PausePatiently() // what is about to end has ended after that, and is the reason
		}
		w.Dropped, w.Detail = l.dropReason(a, w, err)
		b.Windows = append(b.Windows, w)
		if errors.Is(err, reserve.ErrShort) {
			return b, err
		}
		if w.Dropped != "" {
			l.dropped++
			if err := l.revive(); err != nil {
				return b, err
			}
		} else if a.Name == l.load.Baseline {
			l.steady.add(w, rate)
		}
		e := l.at("measure")
		e.Arm, e.Block = a.Name, number
		l.tell(e)
	}
	return b, nil
}

// ofBlock are the arms of a block that are up.
func (l *loadRun) ofBlock(number int) []*arm {
	asked := l.question
	if up := func(a *arm) bool { return a.Name == l.load.Workload.Question }; asked == nil && number%2 == 1 && slices.ContainsFunc(l.arms, up) {
		asked = l.alone()
	}
	if asked == nil {
		return slices.Clone(l.arms)
	}
	return slices.DeleteFunc(slices.Clone(l.arms), func(a *arm) bool { return !slices.Contains(asked, a.Name) })
}

// add takes a window of the baseline, and the rate of the stretch after it.
func (s *steady) add(w record.Window, rate float64) {
	s.seconds, s.ops = s.seconds+w.Seconds, s.ops+float64(w.Ops)
	if rate > 0 {
		s.rate = rate
	}
}

// revive takes arms that ended or do not freeze out of this generation: the
// next launch starts them again. Without the baseline the generation is over.
func (l *loadRun) revive() error {
	l.guard.Attend()
	for _, s := range slices.Clone(l.sites) {
		err := s.died()
		if err == nil && !s.session.Paused() {
			err = s.session.PausePatiently()
		}
		if err != nil {
			arms := l.armsOn(s)
			detail := err.Error() + lastLines(s.log.Name())
			if err := errors.Join(l.drop(s), l.lost(arms, err, detail)); err != nil {
				return err
			}
			continue
		}
		if err := l.reviveNeighbour(s); err != nil {
			return err
		}
	}
	return nil
}

// reviveNeighbour takes the arms that have a neighbour out of this generation
// when theirs has ended; the others on the site go on.
func (l *loadRun) reviveNeighbour(s *site) error {
	if s.neighbour == nil {
		return nil
	}
	err := s.neighbour.trouble()
	if err == nil {
		return nil
	}
	var arms []*arm
	l.arms = slices.DeleteFunc(l.arms, func(a *arm) bool {
		if a.site != s || a.Neighbour == "" {
			return false
		}
		arms = append(arms, a)
		return true
	})
	detail := fmt.Sprintf("neighbour %s: %v%s", s.neighbour.Name, err, lastLines(s.neighbour.log.Name()))
	return errors.Join(s.release(), s.endNeighbour(), l.lost(arms, hint.New(errors.New(detail), hint.Of(err)), detail))
}

// lost is arms that died in a window of theirs, or before one. Their other windows
// stand; an arm that dies in three generations is given up.
func (l *loadRun) lost(arms []*arm, why error, detail string) error {
	for _, a := range arms {
		if a.Name == l.load.Baseline || a.Twin {
			return hint.New(fmt.Errorf("arm %s: %s", a.Name, detail), hint.Of(why))
		}
		skipped := record.Left{Workload: l.load.Name, Arm: a.Name, Reason: detail, Remedy: hint.Of(why)}
		if skipped.Remedy == "" {
			skipped.Remedy = "see " + record.RawDir + "/"
		}
		l.failures[a.Name]++
		if l.failures[a.Name] >= mostFailures {
			l.giveUp(skipped)
		}
		l.warn(record.Warning{Workload: l.load.Name, Arm: a.Name, Text: "ended in the middle of a launch: " + skipped.Reason, Remedy: skipped.Remedy})
	}
	return nil
}
