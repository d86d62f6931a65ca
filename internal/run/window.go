package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/tarelab/tare/internal/counter"
	"github.com/tarelab/tare/internal/environment"
	"github.com/tarelab/tare/internal/linux/sched"
	"github.com/tarelab/tare/internal/window"
	"github.com/tarelab/tare/record"
)

// pause stops the arm: by the freezer where there is one, else by the load's
// gate, waiting until no operation is in flight.
func (a *site) pause() error {
	if a.paused {
		return nil
	}
	if a.place.Away != nil {
		return a.pauseAway()
	}
	began := a.memory.Now()
	defer func() { a.freezing = time.Duration(a.memory.Now() - began) }()
	if a.place.Pause != nil {
		if err := a.freeze(); err != nil {
			return err
		}
		a.paused = true
		return nil
	}
	window.Pause(a.memory)
	a.paused = true
	return nil
}

// freeze freezes everything on the site. A process stops on its own way out of
// the kernel, which one that is held back may never get to on a busy host: after
// a while its isolation is taken back, to be set anew for the next window.
func (a *site) freeze() error {
	if a.enforced == nil || !a.lifts {
		return a.place.Pause.Freeze(freezeTimeout)
	}
	err := a.place.Pause.Freeze(starvedTimeout)
	if !errors.Is(err, environment.ErrNotFrozen) {
		return err
	}
	return errors.Join(a.release(), a.place.Pause.Freeze(freezeTimeout-starvedTimeout))
}

// pausePatiently pauses the arm outside of any window, where a host that is
// overloaded for a while must not end the run.
func (a *site) pausePatiently() error {
	return patiently(a.pause)
}

// freezePatiently freezes everything on the site, whatever state it is in.
func (a *site) freezePatiently() error {
	return patiently(func() error { return a.place.Pause.Freeze(freezeTimeout) })
}

func patiently(freeze func() error) (err error) {
	for range patience {
		if err = freeze(); err == nil || !errors.Is(err, environment.ErrNotFrozen) {
			return err
		}
	}
	return err
}

// resume lets the arm run as it is asked for; operations that were in flight are
// told apart from now on.
func (a *arm) resume(v environment.Visit) error {
	began := a.memory.Now()
	if err := a.hold(); err != nil {
		return fmt.Errorf("%w: %w", errIsolation, err)
	}
	a.cut.Announce(v)
	if f := a.freezer(); f != nil {
		if err := f.Thaw(); err != nil {
			return err
		}
	} else {
		a.memory.SetGate(false)
	}
	a.paused = false
	a.thawed = time.Duration(a.memory.Now() - began)
	return nil
}

// freezer thaws what runs in a window of the arm: an arm without a neighbour
// leaves that of its site frozen. nil: the load is paused by its gate.
func (a *arm) freezer() environment.Freezer {
	if a.neighbour != nil && a.Neighbour == "" {
		return a.place.Alone
	}
	return a.place.Pause
}

// errIsolation means that what protects an arm was not in force.
var errIsolation = errors.New("isolation")

// pauseKind is how the arms are paused, for the record.
func (a *site) pauseKind() string {
	if a.place.Away != nil {
		return "stream"
	}
	if a.place.Pause == nil {
		return "load"
	}
	return a.place.Pause.Kind()
}

// sleep sleeps until the moment (CLOCK_MONOTONIC ns) on the protected thread.
func sleep(ctx context.Context, until int64) error { return window.Sleep(until, ctx.Err) }

// window thaws the arm, throws the discard away, measures, and freezes it
// again. Beyond the window, when steady is set, the arm runs on unfrozen and
// the rate of that stretch is returned for the transparency check.
func (l *loadRun) window(ctx context.Context, a *arm, seed uint64, steady time.Duration) (w record.Window, steadyRate float64, err error) {
	err = l.visit(ctx, a, environment.Visit{
		Seed: seed, Discard: l.lengths.Discard, Length: l.lengths.Window, Steady: steady,
	})
	s := &a.visited
	w = record.Window{
		Arm: a.Name, Seconds: s.Seconds, Ops: s.Ops, FirstSeconds: s.FirstSeconds, First: s.First,
		Thaw: a.thawed.Seconds(), Freeze: a.freezing.Seconds(),
	}
	if s.Start > 0 {
		w.Start = float64(s.Start-l.origin) * 1e-9
	}
	return w, s.SteadyRate, err
}

// visit lets the arm run as asked for, here or where it is, and pauses it again.
// A load whose tool cannot be cut at any instant is asked for its window.
func (l *loadRun) visit(ctx context.Context, a *arm, v environment.Visit) (err error) {
	v.Values = len(l.load.Stages.Values)
	if asked := l.load.Stages.Windowed; asked != nil {
		v.Asked, v.Mode, v.Limit = true, l.planned(a.Name).Stages.Mode, asked.Limit
	}
	if a.place.Away != nil {
		err = a.visitAway(ctx, v)
	} else {
		err = l.visitHere(ctx, a, v)
	}
	if err == nil || ctx.Err() != nil || errors.Is(err, environment.ErrNotFrozen) || errors.Is(err, errIsolation) {
		return err
	}
	if died := a.died(); died != nil {
		return died
	}
	if state, note := a.memory.State(); state == counter.Failed {
		return a.whyFailed(note)
	}
	return err
}

// visitHere lets an arm run whose counters tare shares.
func (l *loadRun) visitHere(ctx context.Context, a *arm, v environment.Visit) error {
	a.visited, a.thawed, a.freezing = environment.Visited{}, 0, 0
	if err := a.resume(v); err != nil {
		return fmt.Errorf("thaw: %w", err)
	}
	a.cut.Ended = func() error { return cmp.Or(ctx.Err(), a.died()) }
	a.cut.Opened, a.cut.Closing = func() { l.opened(a) }, func() { l.closing(a) }
	var err error
	a.visited, err = a.cut.Cut(v)
	pause := a.pause
	if v.Tick > 0 {
		pause = a.pausePatiently // no window: an overloaded host ends nothing here
	}
	err = errors.Join(err, pause())
	if a.place.Pause != nil && v.Tick == 0 {
		l.self.switches = append(l.self.switches, (a.freezing + a.thawed).Seconds())
	}
	a.cut.Fill(&a.visited)
	return err
}

// opened is when a window is open, closing when it is about to be closed: what
// tare itself uses in it is counted between them.
func (l *loadRun) opened(a *arm) {
	if a.neighbour != nil {
		a.neighbour.open()
	}
	l.self.open(sched.Monotonic())
}

func (l *loadRun) closing(a *arm) {
	l.self.shut(sched.Monotonic())
	if a.neighbour != nil {
		a.neighbour.shut()
	}
}

// fill completes the window from what was read, after the arm is frozen.
func (a *arm) fill(w *record.Window) {
	s := &a.visited
	w.Errors, w.Cut, w.Late, w.Backlog = s.Errors, s.Cut, s.Late, s.Backlog
	w.Latency, w.Probes = s.Latency, map[string]record.Value{}
	for _, m := range a.probes.Metrics() {
		v, ok := s.Probes[m.Name]
		if !ok {
			v = record.Missing("the window has no reading of it")
		}
		w.Probes[m.Name] = v
	}
	if a.neighbour != nil && a.Neighbour != "" {
		w.Neighbour = a.neighbour.did()
	}
	for i, shut := range s.Shut {
		if w.Values == nil {
			w.Values = map[string]record.Value{}
		}
		v := record.Missing("the load said nothing of it in this window")
		if x := shut.Mean(s.Open[i]); !math.IsNaN(x) {
			v = record.Number(x)
		}
		w.Values[a.values[i].Name] = v
	}
}

// offLength says that a window is not as long as it was to be. A load that
// finishes what it does takes as long as it takes.
func (l *loadRun) offLength(w record.Window) bool {
	if asked := l.load.Stages.Windowed; asked != nil && !asked.Exact {
		return false
	}
	want := l.lengths.Window.Seconds()
	return w.Seconds > 1.05*want || w.Seconds < 0.95*want
}

// dropReason says why a window does not count, by rules that were fixed before
// the run and look at no result; empty when it counts.
func (l *loadRun) dropReason(a *arm, w record.Window, err error) (reason, detail string) {
	state, note := a.memory.State()
	switch {
	case a.died() != nil:
		return record.DropDied, a.died().Error() + lastLines(a.log.Name())
	case a.disturbed() != nil:
		return record.DropNeighbour, a.disturbed().Error()
	case errors.Is(err, environment.ErrNotFrozen):
		return record.DropFreeze, err.Error()
	case errors.Is(err, errIsolation):
		return record.DropIsolation, err.Error()
	case state == counter.Failed:
		return record.DropError, note
	case err != nil:
		return record.DropError, err.Error()
	case w.Errors > 0:
		return record.DropError, fmt.Sprintf("%d errors%s", w.Errors, lastLines(a.log.Name()))
	case l.offLength(w):
		return record.DropLength, fmt.Sprintf("%.4f s", w.Seconds)
	case w.Ops == 0:
		return record.DropStalled, ""
	}
	return l.limits.exceeded(w)
}
