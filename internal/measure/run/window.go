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

// errIsolation means that what protects an arm was not in force.
var errIsolation = errors.New("isolation")

// yielding is the freezer of a site. A process stops on its own way out of the kernel,
// which one that is held back may never get to on a busy host: after a while its
// isolation is taken back, to be set anew for the next window.
type yielding struct {
	wire.Freezer
	site *site
}

func (f yielding) Freeze(timeout time.Duration) error {
	if f.site.enforced == nil || !f.site.lifts {
		return f.Freezer.Freeze(timeout)
	}
	err := f.Freezer.Freeze(starvedTimeout)
	if !errors.Is(err, wire.ErrNotFrozen) {
		return err
	}
	return errors.Join(f.site.release(), f.Freezer.Freeze(timeout-starvedTimeout))
}

// sleep sleeps until the moment (CLOCK_MONOTONIC ns) on the protected thread.
func sleep(ctx context.Context, until int64) error { return window.Sleep(until, ctx.Err) }

// window thaws the arm, lets it settle, measures, and freezes it again. Beyond the
// window, when steady is set, the arm runs on unfrozen and the rate of that stretch is
// returned for the transparency check.
func (l *loadRun) window(ctx context.Context, a *arm, seed uint64, steady time.Duration, whole bool) (w record.Window, steadyRate float64, err error) {
	spec := wire.WindowSpec{Seed: seed, Discard: l.lengths.Discard, Length: l.lengths.Window, Steady: steady, Whole: whole}
	seen, err := l.measure(ctx, a, spec)
	w = record.Window{
		Arm: a.Name, Seconds: seen.Seconds, Ops: seen.Ops, FirstSeconds: seen.FirstSeconds, First: seen.First,
		Thaw: seen.Thawing.Seconds(), Freeze: seen.Pausing.Seconds(),
	}
	if seen.Start > 0 {
		w.Start = float64(seen.Start-l.origin) * 1e-9
	}
	if ctx.Err() == nil {
		a.fill(&w, seen)
	}
	return w, seen.SteadyRate, err
}

// measure lets the arm run as asked for, with its isolation in force, and pauses it
// again. A load whose tool cannot be cut at any instant is asked for its window.
func (l *loadRun) measure(ctx context.Context, a *arm, w wire.WindowSpec) (seen wire.Sample, err error) {
	w.Values, w.Neighbour = len(l.load.Stages.Values), a.Neighbour != ""
	if windowed := l.load.Stages.Windowed; windowed != nil {
		w.Asked, w.Limit = true, windowed.Limit
	}
	began := sched.Monotonic()
	if err := a.hold(); err != nil {
		return seen, fmt.Errorf("%w: %w", errIsolation, err)
	}
	holding := time.Duration(sched.Monotonic() - began)
	seen, err = l.watched(ctx, a, w)
	seen.Thawing += holding
	l.self.add(seen, w.Tick == 0 && session.Frozen(a.session.Method()))
	if err == nil || ctx.Err() != nil || errors.Is(err, wire.ErrNotFrozen) || untimely(err) {
		return seen, err
	}
	if died := a.died(); died != nil {
		return seen, died
	}
	if state, note := a.parts.Memory.State(); state == counter.Failed {
		return seen, a.whyFailed(note)
	}
	return seen, err
}

// fill completes the window from what was read.
func (a *arm) fill(w *record.Window, seen wire.Sample) {
	w.Errors, w.Cut, w.Late, w.Backlog = seen.Errors, seen.Cut, seen.Late, seen.Backlog
	w.Latency, w.Probes = seen.Latency, map[string]record.Value{}
	for _, m := range a.session.Metrics() {
		v, ok := seen.Probes[m.Name]
		switch {
		case ok:
			w.Probes[m.Name] = v
		case len(seen.Probes) == 0:
			w.Probes[m.Name] = record.Missing("the window has no reading of it")
		} // else there is nothing here that it could observe
	}
	if a.neighbour != nil && a.Neighbour != "" {
		w.Neighbour = a.neighbour.did(seen.Neighbour)
	}
	for i, shut := range seen.Shut {
		if w.Values == nil {
			w.Values = map[string]record.Value{}
		}
		v := record.Missing("the load said nothing of it in this window")
		if x := shut.Mean(seen.Open[i]); !math.IsNaN(x) {
			v = record.Number(x)
		}
		w.Values[a.values[i].Name] = v
	}
}

// dropReason says why a window does not count, by rules that were fixed before
// the run and look at no result; empty when it counts. One that came late, or in
// which nothing was done, counts: it is what happened in its seconds.
func (l *loadRun) dropReason(a *arm, w record.Window, err error) (reason, detail string) {
	state, note := a.parts.Memory.State()
	switch {
	case errors.Is(err, launch.ErrSilent):
		return record.DropSilent, launch.ErrSilent.Error()
	case a.died() != nil:
		return record.DropDied, a.died().Error() + lastLines(a.log.Name())
	case a.disturbed() != nil:
		return record.DropNeighbour, a.disturbed().Error()
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
		return record.DropError, fmt.Sprintf("%d errors%s", w.Errors, lastLines(a.log.Name()))
	}
	return "", ""
}
