package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tarelab/tare/internal/environment"
	"github.com/tarelab/tare/internal/hint"
	"github.com/tarelab/tare/internal/plan"
	"github.com/tarelab/tare/record"
)

// steadyLength is how long the baseline runs on, unfrozen, for the
// transparency check: well beyond the window.
func (l *loadRun) steadyLength() time.Duration {
	return min(max(3*l.lengths.Window, 900*time.Millisecond), 4*time.Second)
}

// block visits every arm once in random order. The baseline's window is
// followed by a steady stretch when asked for.
func (l *loadRun) block(ctx context.Context, number int, steady bool) (*record.Block, *record.Check, error) {
	seed := l.Plan.Record.Seed
	b := &record.Block{Workload: l.load.Name, Generation: l.generation, Number: number}
	arrivals := plan.ArrivalSeed(seed, l.load.Name, l.generation, number)
	var check *record.Check
	for _, i := range plan.Order(seed, l.load.Name, l.generation, number, len(l.arms)) {
		a := l.arms[i]
		stretch := time.Duration(0)
		if steady && a.Name == l.load.Baseline {
			stretch = l.steadyLength()
		}
		w, rate, err := l.window(ctx, a, arrivals, stretch)
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if errors.Is(err, environment.ErrNotFrozen) {
			_ = a.pausePatiently() // what is about to end has ended after that, and is the reason
		}
		a.fill(&w)
		b.Windows = append(b.Windows, w)
		if reason, detail := l.dropReason(a, w, err); reason != "" {
			b.Dropped, b.Detail = reason, fmt.Sprintf("%s: %s", a.Name, detail)
			l.dropped++
			return b, nil, l.revive()
		}
		if stretch > 0 {
			check = &record.Check{
				Workload: l.load.Name, Generation: l.generation, Kind: "transparency",
				Rotated: w.Rate(), Steady: rate,
			}
		}
		e := l.at("measure")
		e.Arm, e.Block = a.Name, number
		l.event(e)
	}
	return b, check, nil
}

// revive takes arms that ended or do not freeze out of this generation: the
// next launch starts them again. Without the baseline the generation is over.
func (l *loadRun) revive() error {
	for _, s := range slices.Clone(l.sites) {
		err := s.died()
		if err == nil && !s.paused {
			err = s.pausePatiently()
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

// lost is arms that died in a window. Their other windows stand; an arm that
// dies in three generations is given up.
func (l *loadRun) lost(arms []*arm, why error, detail string) error {
	for _, a := range arms {
		if a.Name == l.load.Baseline || a.Twin {
			return hint.New(fmt.Errorf("arm %s: %s", a.Name, detail), hint.Of(why))
		}
		left := record.Left{Workload: l.load.Name, Arm: a.Name, Reason: detail, Remedy: hint.Of(why)}
		if left.Remedy == "" {
			left.Remedy = "see " + record.RawDir + "/"
		}
		l.failures[a.Name]++
		if l.failures[a.Name] >= 3 {
			l.gaveUp[a.Name] = true
			l.leave(left)
		}
		l.warn(record.Warning{Workload: l.load.Name, Arm: a.Name, Text: "ended in a window: " + left.Reason, Remedy: left.Remedy})
	}
	return nil
}
