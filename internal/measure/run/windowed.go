package run

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/record"
)

// pilotWindowed asks every arm for one window: what it takes beyond its length
// decides how many there are.
func (l *loadRun) pilotWindowed(ctx context.Context) error {
	l.event(l.at("pilot"))
	windowed := *l.load.Stages.Windowed
	l.lengths = plan.Lengths{Window: windowed.Least, Discard: max(windowed.Discard, l.settle())}
	o := plan.Observed{Stands: true, Launch: l.launchTime, Arms: len(l.arms), Pause: l.arms[0].session.Method(), Least: l.load.Shortest(), Settle: l.settle()}
	over, asks := time.Duration(0), 0 // beyond the lengths, of all arms
	all := slices.Clone(l.arms)
	for _, i := range plan.Order(l.Plan.Record.Seed, l.load.Name+"/pilot", 0, 0, len(all)) {
		a := all[i]
		if !slices.Contains(l.arms, a) {
			continue // with a neighbour that has ended
		}
		if err := l.watch.Ahead(lookBetween); err != nil {
			return err
		}
		var began time.Time
		var w record.Window
		_, err := undisturbed(func() (err error) {
			began = time.Now()
			w, _, err = l.window(ctx, a, 1, 0, false)
			return err
		})
		if a.disturbed() != nil {
			if err := l.revive(); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return fmt.Errorf("arm %s: %w%s", a.Name, err, lastLines(a.log.Name()))
		}
		over += max(0, time.Since(began)-l.lengths.Window-l.lengths.Discard)
		asks++
		if w.Errors > 0 {
			return fmt.Errorf("arm %s: the load reports %d errors%s", a.Name, w.Errors, lastLines(a.log.Name()))
		}
	}
	if asks > 0 { // a block has each arm once: the mean is what counts
		o.Switch = over / time.Duration(asks)
	}
	o.Budget = l.remaining()
	fixed := plan.Lengths{Window: l.Plan.Window, Discard: l.Plan.Discard, Generations: l.Plan.Generations}
	lengths, p := plan.TuneWindowed(o, windowed, fixed)
	return l.tuned(o, lengths, p)
}
