package run

import (
	"context"
	"fmt"
	"time"

	"github.com/tarelab/tare/internal/counter"
	"github.com/tarelab/tare/internal/environment"
	"github.com/tarelab/tare/internal/plan"
	"github.com/tarelab/tare/record"
)

// Loads that count where tare is not: the window is cut there, and what is here of
// the counters is no more than the state of the load.

// gate closes or opens the gate of the load, wherever that is.
func (a *site) gate(closed bool) error {
	if a.place.Away != nil {
		return a.place.Away.Gate(closed)
	}
	a.memory.SetGate(closed)
	return nil
}

// pauseAway closes the gate of a load that is elsewhere.
func (a *site) pauseAway() error {
	began := a.memory.Now()
	err := a.place.Away.Pause()
	a.freezing = time.Duration(a.memory.Now() - began)
	a.paused = err == nil
	return err
}

// visit lets the load run as asked for. Between visits it is paused.
func (l *loadRun) visit(ctx context.Context, a *arm, v environment.Visit) error {
	if err := a.hold(); err != nil {
		return fmt.Errorf("%w: %w", errIsolation, err)
	}
	v.Values = len(l.load.Stages.Values)
	if asked := l.load.Stages.Windowed; asked != nil {
		v.Asked, v.Mode, v.Limit = true, l.planned(a.Name).Stages.Mode, asked.Limit
	}
	began := a.memory.Now()
	seen, err := a.place.Away.Visit(ctx, v)
	a.visited = &seen
	a.freezing = seen.Pausing
	a.thawed = max(0, time.Duration(a.memory.Now()-began)-seen.Ran-seen.Pausing) // on the way
	if err == nil {
		return nil
	}
	if died := a.died(); died != nil {
		return died
	}
	if state, note := a.memory.State(); state == counter.Failed {
		return a.whyFailed(note)
	}
	return err
}

// windowAway is a window that is cut where the load is.
func (l *loadRun) windowAway(ctx context.Context, a *arm, seed uint64, steady time.Duration) (w record.Window, steadyRate float64, err error) {
	err = l.visit(ctx, a, environment.Visit{
		Seed: seed, Discard: l.lengths.Discard, Length: l.lengths.Window, Steady: steady,
	})
	s := a.visited
	w = record.Window{
		Arm: a.Name, Seconds: s.Seconds, Ops: s.Ops, FirstSeconds: s.FirstSeconds, First: s.First,
		Thaw: a.thawed.Seconds(), Freeze: a.freezing.Seconds(),
	}
	if s.Start > 0 {
		w.Start = float64(s.Start-l.origin) * 1e-9
	}
	return w, s.SteadyRate, err
}

// traceAway is trace of a load that is elsewhere.
func (l *loadRun) traceAway(ctx context.Context, a *arm, length time.Duration) (plan.Trace, float64, float64, error) {
	err := l.visit(ctx, a, environment.Visit{Seed: 1, Length: length, Tick: plan.Tick})
	if err != nil {
		err = fmt.Errorf("arm %s: %w%s", a.Name, err, lastLines(a.log.Name()))
	}
	return plan.Trace{Arm: a.Name, Ticks: a.visited.Ticks}, 0, 0, err
}

// fillAway completes the window from what was seen there.
func (a *arm) fillAway(w *record.Window) {
	s := a.visited
	w.Errors, w.Cut, w.Late, w.Backlog = s.Errors, s.Cut, s.Late, s.Backlog
	w.Latency, w.Probes = s.Latency, map[string]record.Value{}
	a.saidOpen, a.saidShut = s.Open, s.Shut
	for _, m := range a.probes.Metrics() {
		v, ok := s.Probes[m.Name]
		if !ok {
			v = record.Missing("the window has no reading of it")
		}
		w.Probes[m.Name] = v
	}
}
