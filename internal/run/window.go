package run

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/tarelab/tare/internal/counter"
	"github.com/tarelab/tare/internal/environment"
	"github.com/tarelab/tare/internal/linux/sched"
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
	a.memory.SetGate(true)
	deadline := began + int64(drainTimeout)
	for a.memory.InFlight() > 0 && a.memory.Now() < deadline {
		sched.SleepUntil(a.memory.Now() + int64(200*time.Microsecond))
	}
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

// resume lets the arm run; operations that were in flight are told apart from
// now on.
func (a *arm) resume(seed uint64) error {
	began := a.memory.Now()
	if err := a.hold(); err != nil {
		return fmt.Errorf("%w: %w", errIsolation, err)
	}
	a.memory.SetSeed(seed)
	a.memory.MarkThaw()
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

// sleep sleeps until the moment (CLOCK_MONOTONIC ns) on the protected thread,
// in slices so that a cancelled run ends soon.
func sleep(ctx context.Context, until int64) error {
	const slice = int64(100 * time.Millisecond)
	for now := sched.Monotonic(); now < until; now = sched.Monotonic() {
		if err := ctx.Err(); err != nil {
			return err
		}
		sched.SleepUntil(min(until, now+slice))
	}
	return ctx.Err()
}

// mark is one moment of an open window.
type mark struct {
	at  int64 // CLOCK_MONOTONIC ns
	ops uint64
}

func (a *site) mark() mark { return mark{sched.Monotonic(), a.memory.Ops()} }

func (m mark) since(earlier mark) (seconds float64, ops uint64) {
	return float64(m.at-earlier.at) * 1e-9, m.ops - earlier.ops
}

// window thaws the arm, throws the discard away, measures, and freezes it
// again. Beyond the window, when steady is set, the arm runs on unfrozen and
// the rate of that stretch is returned for the transparency check.
func (l *loadRun) window(ctx context.Context, a *arm, seed uint64, steady time.Duration) (w record.Window, steadyRate float64, err error) {
	if a.place.Away != nil {
		return l.windowAway(ctx, a, seed, steady)
	}
	w.Arm = a.Name
	asked := l.ask(a, l.lengths)
	if err := a.resume(seed); err != nil {
		return w, 0, fmt.Errorf("thaw: %w", err)
	}
	defer func() {
		w.Thaw = a.thawed.Seconds()
		if perr := a.pause(); perr != nil {
			err = errors.Join(err, perr)
		}
		w.Freeze = a.freezing.Seconds()
		if a.place.Pause != nil {
			l.self.switches = append(l.self.switches, w.Freeze+w.Thaw)
		}
	}()
	if asked.Number > 0 {
		return w, 0, l.answer(ctx, a, asked, &w)
	}
	begin := sched.Monotonic()
	if err := sleep(ctx, begin+int64(l.lengths.Discard)); err != nil {
		return w, 0, err
	}
	first, middle, last, err := l.measure(ctx, a)
	if err != nil {
		return w, 0, err
	}
	w.Start = float64(first.at-l.origin) * 1e-9
	w.Seconds, w.Ops = last.since(first)
	w.FirstSeconds, w.First = middle.since(first)
	if steady > 0 {
		steadyRate, err = steadyStretch(ctx, a, steady)
	}
	return w, steadyRate, err
}

// measure opens the window, waits its length and closes it.
func (l *loadRun) measure(ctx context.Context, a *arm) (first, middle, last mark, err error) {
	l.openWindow(a)
	cpu := cpuTime()
	first = a.mark()
	if err = sleep(ctx, first.at+int64(l.lengths.Window)/2); err != nil {
		return
	}
	middle = a.mark()
	if err = sleep(ctx, first.at+int64(l.lengths.Window)); err != nil {
		return
	}
	last = a.mark()
	l.self.cpu += cpuTime() - cpu
	l.self.window += time.Duration(last.at - first.at)
	l.shutWindow(a)
	return
}

// openWindow reads the counters, then the probes; shutWindow the other way
// round.
func (l *loadRun) openWindow(a *arm) {
	a.memory.Read(&a.open)
	a.saidOpen = l.said(a, a.saidOpen[:0])
	a.before = a.probes.Read(a.before[:0])
	if a.neighbour != nil {
		a.neighbour.open()
	}
}

func (l *loadRun) shutWindow(a *arm) {
	if a.neighbour != nil {
		a.neighbour.shut()
	}
	a.after = a.probes.Read(a.after[:0])
	a.memory.Read(&a.shut)
	a.saidShut = l.said(a, a.saidShut[:0])
}

// said reads the numbers that the load adds up itself.
func (l *loadRun) said(a *arm, to []counter.Sum) []counter.Sum {
	for i := range l.load.Stages.Values {
		to = append(to, a.memory.Value(i))
	}
	return to
}

// steadyStretch lets the arm run on for a while and returns its rate since
// half of that while: far from any thaw.
func steadyStretch(ctx context.Context, a *arm, d time.Duration) (float64, error) {
	begin := sched.Monotonic()
	if err := sleep(ctx, begin+int64(d)/3); err != nil {
		return 0, err
	}
	from := a.mark()
	if err := sleep(ctx, begin+int64(d)); err != nil {
		return 0, err
	}
	seconds, ops := a.mark().since(from)
	return float64(ops) / seconds, nil
}

// fill completes the window from the readings, after the arm is frozen.
func (a *arm) fill(w *record.Window) {
	if a.place.Away != nil {
		a.fillAway(w)
	} else {
		a.fillHere(w)
	}
	for i, s := range a.saidShut {
		if w.Values == nil {
			w.Values = map[string]record.Value{}
		}
		v := record.Missing("the load said nothing of it in this window")
		if x := s.Mean(a.saidOpen[i]); !math.IsNaN(x) {
			v = record.Number(x)
		}
		w.Values[a.values[i].Name] = v
	}
}

func (a *arm) fillHere(w *record.Window) {
	w.Errors = a.shut.Errors - a.open.Errors
	w.Cut = a.shut.Cut - a.open.Cut
	w.Late = a.shut.Late - a.open.Late
	w.Backlog = a.shut.Backlog
	w.Latency = a.shut.Since(&a.open)
	w.Probes = a.probes.Values(a.before, a.after)
	if a.neighbour != nil && a.Neighbour != "" {
		w.Neighbour = a.neighbour.did()
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
