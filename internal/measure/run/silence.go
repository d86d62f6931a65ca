package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/linux/sched"
	"github.com/tarelab/tare/internal/measure/session"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/record"
)

// tare may be stopped (a signal, a debugger, a frozen control group) or suspended with the
// machine at any instant. The guard then freezes the arms, and a window that was open does
// not count.

// errLong means that a window took much longer than planned.
var errLong = errors.New("longer than planned")

const (
	// betweenSteps is how long tare may take from one window to the next, while all arms
	// are paused: what was measured is synced, and shown.
	betweenSteps = 30 * time.Second
	// leastLate is by how much a window may be longer than planned at least.
	leastLate = 250 * time.Millisecond
	// soon is until when tare is heard of again in a window that has no planned end.
	soon = time.Second
)

// watched measures a window. Its error is launch.ErrSilent or errLong when tare was away
// meanwhile, whatever else is wrong then.
func (l *loadRun) watched(ctx context.Context, a *arm, w wire.WindowSpec) (wire.Sample, error) {
	if a.parts.Place.Remote == nil {
		l.guard.Allow(silentFor(w))
	} else {
		l.guard.Attend() // the window is cut where tare is not
	}
	l.wasSilent(l.load.Name) // before it: no window was open
	began, running := sched.Boottime(), sched.Monotonic()
	seen, err := a.session.Measure(ctx, w)
	suspended := time.Duration(sched.Boottime() - began - (sched.Monotonic() - running))
	l.guard.Allow(betweenSteps)
	switch {
	case ctx.Err() != nil:
		return seen, err
	case l.wasSilent(l.load.Name):
		return seen, launch.ErrSilent
	case err == nil:
		err = l.late(w, seen, suspended)
	}
	return seen, err
}

// silentFor is how long tare may say nothing from a thaw to the next pause.
func silentFor(w wire.WindowSpec) time.Duration {
	switch {
	case w.Asked:
		return soon // extended as long as the load is waited for
	case w.Tick > 0:
		return w.Length + session.PatientTimeout
	}
	return w.Discard + w.Length + w.Steady
}

// endedOn says why a window on the site is not waited for any longer.
func (l *loadRun) endedOn(s *site) func() error {
	silent := l.guard.Silent
	if l.load.Stages.Windowed != nil {
		silent = func() error { return l.guard.Extend(soon) }
	}
	return func() error {
		if err := silent(); err != nil {
			return err
		}
		if err := s.died(); err != nil {
			return err
		}
		return l.watch.Ahead(lookWithin)
	}
}

// late is errLong for a window that is longer than planned by more than its length and by
// more than 250 ms, or for which the machine was suspended as long. How long the window of a
// tool is that is not exact is a result.
func (l *loadRun) late(w wire.WindowSpec, seen wire.Sample, suspended time.Duration) error {
	by := suspended
	if !w.Asked || l.load.Stages.Windowed.Exact {
		by += time.Duration(seen.Seconds*float64(time.Second)) - w.Length
	}
	if by <= max(w.Length, leastLate) {
		return nil
	}
	if suspended > by/2 {
		return fmt.Errorf("%w: by %v, for the machine was suspended", errLong, by.Round(time.Millisecond))
	}
	return fmt.Errorf("%w: by %v", errLong, by.Round(time.Millisecond))
}

// untimely says that what was seen is not to be looked at for the time that it took.
func untimely(err error) bool { return errors.Is(err, launch.ErrSilent) || errors.Is(err, errLong) }

// wasSilent says whether the guard froze the arms since it was called last, and warns once
// of each time.
func (r *runner) wasSilent(workload string) bool {
	froze := r.guard.Froze()
	if froze == r.froze {
		return false
	}
	r.froze = froze
	r.warn(record.Warning{Workload: workload, Text: launch.ErrSilent.Error()})
	return true
}

// undisturbed measures, and again when tare was away meanwhile. On a host on which a window
// is always too long, the third one counts: there is no better one. Wasted is what the
// others took.
func undisturbed(measure func() error) (wasted time.Duration, err error) {
	for try := 1; ; try++ {
		began := sched.Boottime()
		err := measure()
		switch {
		case errors.Is(err, launch.ErrSilent), errors.Is(err, errLong) && try < 3:
			wasted += time.Duration(sched.Boottime() - began)
		case errors.Is(err, errLong):
			return wasted, nil
		default:
			return wasted, err
		}
	}
}
