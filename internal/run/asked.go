package run

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tarelab/tare/internal/counter"
	"github.com/tarelab/tare/internal/linux/sched"
	"github.com/tarelab/tare/internal/plan"
	"github.com/tarelab/tare/record"
)

// Windows of a load that is asked for each: its tool cannot be cut at any
// instant, so the load says what it measured and for how long.

// ask asks for a window, before the arm is thawed; the zero request is none.
func (l *loadRun) ask(a *arm, lengths plan.Lengths) counter.Request {
	if l.load.Stages.Windowed == nil {
		return counter.Request{}
	}
	a.memory.SetMode(l.planned(a.Name).Stages.Mode)
	return a.memory.Ask(lengths.Window, lengths.Discard)
}

// answer waits for the window that was asked for and reads the counters and
// probes around the part that the load measures.
func (l *loadRun) answer(ctx context.Context, a *arm, r counter.Request, w *record.Window) error {
	limit := l.load.Stages.Windowed.Limit
	err := a.await(ctx, r.Discard+limit, func(d time.Duration) bool { return a.memory.Began(r, d) })
	if err != nil {
		return err
	}
	l.openWindow(a)
	cpu := cpuTime()
	first := a.mark()
	var said counter.Answer
	err = a.await(ctx, r.Length+limit, func(d time.Duration) (ok bool) {
		said, ok = a.memory.Answered(r, d)
		return ok
	})
	if err != nil {
		return err
	}
	last := a.mark()
	l.self.cpu += cpuTime() - cpu
	l.self.window += time.Duration(last.at - first.at)
	l.shutWindow(a)
	w.Start = float64(first.at-l.origin) * 1e-9
	_, w.Ops = last.since(first)
	w.Seconds, w.First, w.FirstSeconds = said.Seconds, said.First, said.FirstSeconds
	return nil
}

// await waits for something that the load does, in slices so that a cancelled
// run or a load that ended is seen soon.
func (a *arm) await(ctx context.Context, limit time.Duration, done func(time.Duration) bool) error {
	const slice = 100 * time.Millisecond
	deadline := sched.Monotonic() + int64(limit)
	for !done(slice) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := a.died(); err != nil {
			return err
		}
		if state, note := a.memory.State(); state == counter.Failed {
			return a.whyFailed(note)
		}
		if sched.Monotonic() > deadline {
			return fmt.Errorf("the load did not answer within %v", limit)
		}
	}
	return nil
}

// pilotAsked asks every arm for one window: what it takes beyond its length
// decides how many there are.
func (l *loadRun) pilotAsked(ctx context.Context) error {
	l.event(l.at("pilot"))
	asked := *l.load.Stages.Windowed
	l.lengths = plan.Lengths{Window: asked.Least, Discard: asked.Discard}
	o := plan.Observed{Launch: l.launchTime, Arms: len(l.arms), Pause: l.arms[0].pauseKind()}
	var foreign, steal []float64
	over, asks := time.Duration(0), 0 // beyond the lengths, of all arms
	all := slices.Clone(l.arms)
	for _, i := range plan.Order(l.Plan.Record.Seed, l.load.Name+"/pilot", 0, 0, len(all)) {
		a := all[i]
		if !slices.Contains(l.arms, a) {
			continue // with a neighbour that has ended
		}
		began := time.Now()
		w, _, err := l.window(ctx, a, 1, 0)
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
		a.fill(&w)
		if w.Errors > 0 {
			return fmt.Errorf("arm %s: the load reports %d errors%s", a.Name, w.Errors, lastLines(a.log.Name()))
		}
		f, _ := w.Probes[foreignShare].Get()
		s, _ := w.Probes[stealShare].Get()
		foreign, steal = append(foreign, f/w.Seconds), append(steal, s/w.Seconds)
	}
	if asks > 0 { // a block has each arm once: the mean is what counts
		o.Switch = over / time.Duration(asks)
	}
	o.Budget = l.left()
	fixed := plan.Lengths{Window: l.Plan.Window, Discard: l.Plan.Discard, Generations: l.Plan.Generations}
	lengths, p := plan.TuneWindowed(o, asked, fixed)
	return l.tuned(o, lengths, p, foreign, steal)
}
