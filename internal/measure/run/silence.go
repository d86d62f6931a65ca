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

// At any time a signal, a debugger or a frozen cgroup may stop tare, or the machine may be suspended.
// The code calls that silence. The guard then freezes the arms, and an open window does not count.

// errLong means that a window took much longer than planned.
var errLong = errors.New("longer than planned")

const (
	// betweenSteps is how long tare may take from one window to the next, while all arms are
	// paused: it syncs the record and shows progress.
	betweenSteps = 30 * time.Second
	// leastLate is a delay that is accepted also in a window shorter than it.
	leastLate = 250 * time.Millisecond
	// soon is the guard's time limit in a window without a planned end; tare renews it again and again.
	soon = time.Second
)

// measureGuarded measures a window on an instance while the guard watches tare. If tare was silent meanwhile,
// the error is launch.ErrSilent or errLong and hides any other error.
func (l *loadRun) measureGuarded(ctx context.Context, s *instance, w wire.WindowSpec) (wire.Sample, error) {
	if s.processes.Place.Remote == nil {
		l.run.guard.Allow(silentFor(w))
	} else {
		l.run.guard.Attend() // the agent in the pod cuts the window
	}
	l.run.wasSilent(l.load.Name) // before this window
	began, running := sched.Boottime(), sched.Monotonic()
	seen, err := s.session.Measure(ctx, w)
	suspended := time.Duration(sched.Boottime() - began - (sched.Monotonic() - running))
	l.run.guard.Allow(betweenSteps)
	switch {
	case ctx.Err() != nil:
		return seen, err
	case l.run.wasSilent(l.load.Name):
		return seen, launch.ErrSilent
	case err == nil:
		err = late(w, seen, suspended)
	}
	return seen, err
}

// silentFor returns how long tare may be silent from the thaw to the next pause.
func silentFor(w wire.WindowSpec) time.Duration {
	switch {
	case w.Asked:
		return soon // endedOn extends it while tare waits for the load
	case w.Tick > 0:
		return w.Length + session.PatientTimeout
	}
	return w.Discard + w.Length + w.Steady
}

// endedOn returns the function that tells an open window on the instance why it must be abandoned.
func (l *loadRun) endedOn(s *instance) func() error {
	silent := l.run.guard.Silent
	if l.load.Stages.Windowed != nil {
		silent = func() error { return l.run.guard.Extend(soon) }
	}
	return func() error {
		if err := silent(); err != nil {
			return err
		}
		if err := s.died(); err != nil {
			return err
		}
		return l.run.watch.Ahead(lookWithin)
	}
}

// late returns errLong for a window that is longer than planned by more than its length and by more
// than leastLate, or during which the machine was suspended for so long. The window of a tool is as long
// as it is, because the tool finishes its last operation: its length is a result.
func late(w wire.WindowSpec, seen wire.Sample, suspended time.Duration) error {
	by := suspended
	if !w.Asked {
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

// isSilence says whether an error means that tare was silent during the window, so that its readings
// are useless.
func isSilence(err error) bool { return errors.Is(err, launch.ErrSilent) || errors.Is(err, errLong) }

// wasSilent says whether the guard froze the arms since the last call, and warns of it.
func (r *runner) wasSilent(workload string) bool {
	froze := r.guard.Froze()
	if froze == r.froze {
		return false
	}
	r.froze = froze
	r.rec.warn(record.Warning{Workload: workload, Text: record.Say("tare_was_silent")})
	return true
}

// repeatWhileSilent measures again while tare was silent. On a host on which a window always takes too
// long, the third try counts. wasted is the time of the tries that do not count.
func repeatWhileSilent(measure func() error) (wasted time.Duration, err error) {
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
