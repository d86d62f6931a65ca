package run

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/host/window"
	"github.com/tarelab/tare/internal/linux/reserve"
	"github.com/tarelab/tare/internal/linux/sched"
	"github.com/tarelab/tare/internal/measure/session"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/internal/wire/counter"
	"github.com/tarelab/tare/record"
)

// errIsolation means that an arm's isolation was not in force.
var errIsolation = errors.New("isolation")

// sleep sleeps until a moment (CLOCK_MONOTONIC ns) on the thread with priority.
func sleep(ctx context.Context, until int64) error { return window.Sleep(until, ctx.Err) }

// window measures one window of an arm: it thaws the arm, lets it settle, measures, and freezes it
// again. steadyRate is the arm's rate in the time spec.Steady after the window, for the transparency
// check.
func (l *loadRun) window(ctx context.Context, a *arm, spec wire.WindowSpec) (w record.Window, steadyRate float64, err error) {
	seen, err := l.measure(ctx, a, spec)
	w = record.Window{
		Arm: a.planned.Name, Seconds: seen.Seconds, Ops: seen.Ops, FirstSeconds: seen.FirstSeconds, First: seen.First,
		Thaw: seen.Thawing.Seconds(), Freeze: seen.Pausing.Seconds(),
	}
	if seen.Start > 0 {
		w.Start = float64(seen.Start-l.run.rec.origin) * 1e-9
	}
	if ctx.Err() == nil {
		a.fill(&w, seen)
	}
	return w, seen.SteadyRate, err
}

// measure lets the arm run with its isolation in force, and pauses it again. A load whose tool
// cannot be cut at any instant is asked for its window.
func (l *loadRun) measure(ctx context.Context, a *arm, w wire.WindowSpec) (seen wire.Sample, err error) {
	w.Values, w.Neighbour = len(l.load.Stages.Values), a.planned.Neighbour != nil
	if windowed := l.load.Stages.Windowed; windowed != nil {
		w.Asked, w.Limit = true, windowed.Limit
	}
	began := sched.Monotonic()
	if err := a.enforceIsolation(); err != nil {
		return seen, fmt.Errorf("%w: %w", errIsolation, err)
	}
	enforcing := time.Duration(sched.Monotonic() - began)
	seen, err = l.measureGuarded(ctx, a.instance, w)
	seen.Thawing += enforcing
	l.run.self.add(seen, w.Tick == 0 && session.Frozen(a.instance.session.Method()))
	if err == nil || ctx.Err() != nil || errors.Is(err, wire.ErrNotFrozen) || isSilence(err) {
		return seen, err
	}
	if died := a.instance.died(); died != nil {
		return seen, died
	}
	if state, note := a.instance.processes.Memory.State(); state == counter.Failed {
		return seen, a.instance.whyFailed(note)
	}
	return seen, err
}

// fill completes the window from what was read.
func (a *arm) fill(w *record.Window, seen wire.Sample) {
	w.Errors, w.Cut, w.Late, w.Backlog = seen.Errors, seen.Cut, seen.Late, seen.Backlog
	w.Latency, w.Probes = seen.Latency, map[string]record.Value{}
	for _, m := range a.instance.session.Metrics() {
		v, ok := seen.Probes[m.Name]
		switch {
		case ok:
			w.Probes[m.Name] = v
		case len(seen.Probes) == 0:
			w.Probes[m.Name] = record.Missing(record.Say("no_reading"))
		} // else the probe has nothing to observe here
	}
	if n := a.runningNeighbour(); n != nil {
		w.Neighbour = n.work(seen.Neighbour)
	}
	for i, shut := range seen.Shut {
		if w.Values == nil {
			w.Values = map[string]record.Value{}
		}
		v := record.Missing(record.Say("load_silent"))
		if x := shut.Mean(seen.Open[i]); !math.IsNaN(x) {
			v = record.Number(x)
		}
		w.Values[a.instance.values[i].Name] = v
	}
}

// dropReason says why a window does not count, by rules that were fixed before the run and look at
// no result; empty: it counts. A window that came late, or in which nothing was done, counts: that
// is what happened in its seconds.
func dropReason(a *arm, w record.Window, err error) (reason, detail string) {
	s := a.instance
	state, note := s.processes.Memory.State()
	died, trouble := s.died(), a.neighbourTrouble()
	switch {
	case errors.Is(err, launch.ErrSilent):
		return record.DropSilent, launch.ErrSilent.Error()
	case died != nil:
		return record.DropDied, withLog(died, lastLines(s.log.Name()))
	case trouble != nil:
		return record.DropNeighbour, trouble.Error()
	case errors.Is(err, wire.ErrNotFrozen):
		return record.DropFreeze, err.Error()
	case errors.Is(err, errLong):
		return record.DropLong, err.Error()
	case errors.Is(err, reserve.ErrShort):
		return record.DropAbandoned, ""
	case errors.Is(err, errIsolation):
		return record.DropIsolation, err.Error()
	case state == counter.Failed:
		return record.DropError, note
	case err != nil:
		return record.DropError, err.Error()
	case w.Errors > 0:
		return record.DropError, reportedErrors(w.Errors, lastLines(s.log.Name()))
	}
	return "", ""
}
