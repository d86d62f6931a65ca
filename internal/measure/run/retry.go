package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/record"
)

const (
	// mostFailures is the number of failures, in launches and in the middle of them, after which
	// an arm is given up.
	mostFailures = 3
	// retryShare is the part of the turn's remaining time after which the first launch tries
	// nothing again.
	retryShare = 0.1
)

// permanentError is an error that another try would meet again.
type permanentError struct{ error }

func (p permanentError) Unwrap() error { return p.error }

// armFailed leaves an arm out of this launch. The first launch tries a failed arm again, because the
// read-back and the pilot need all arms, and gives up an arm that still fails in the end. In any
// launch, an arm is given up after its third failure. A workload cannot go on without its baseline
// or twin.
func (l *loadRun) armFailed(ctx context.Context, a plan.PlannedArm, err error, line *record.Generation) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := l.run.programs.changed(); err != nil {
		return err
	}
	if a.Name == l.load.Baseline || a.Twin {
		return fmt.Errorf("arm %s: %w", a.Name, err)
	}
	left := record.Left{Workload: l.load.Name, Arm: a.Name, Reason: record.InProse(err.Error()), Remedy: record.InProse(hint.Of(err))}
	line.Left = append(withoutArm(line.Left, a.Name), left)
	last := l.schedule.countFailure(a.Name)
	permanent := errors.As(err, new(permanentError)) || errors.Is(err, facts.ErrUnsupported)
	triedAgain := l.schedule.piloted || l.instances.retrying && !permanent
	if last || !triedAgain {
		l.giveUp(left)
	}
	return nil
}

// giveUp leaves an arm out of the rest of the run.
func (l *loadRun) giveUp(left record.Left) {
	l.schedule.givenUp[left.Arm] = true
	l.run.rec.leaveOut(left)
}

func withoutArm(all []record.Left, arm string) []record.Left {
	return slices.DeleteFunc(all, func(l record.Left) bool { return l.Arm == arm })
}

// retry starts what failed in the first launch again, beside the arms that are running and paused,
// until nothing is missing or retryShare of the time is used up.
func (l *loadRun) retry(ctx context.Context, line *record.Generation, began time.Time) error {
	for {
		missing := l.missing()
		if len(missing) == 0 || float64(time.Since(began)) > retryShare*float64(l.schedule.clock.left()) {
			break
		}
		if err := l.retryOnce(ctx, missing, line); err != nil {
			return err
		}
	}
	l.instances.retrying = false
	for _, left := range slices.Clone(line.Left) {
		switch {
		case l.instances.arm(left.Arm) != nil:
			line.Left = withoutArm(line.Left, left.Arm)
			l.run.rec.warn(launchedLater(left.Reason, left.Remedy).of(l.load.Name, left.Arm))
		case !l.schedule.givenUp[left.Arm]:
			l.giveUp(left)
		}
	}
	return nil
}

// missing returns the instances of the launch, with those of their arms that do not run.
func (l *loadRun) missing() []plan.Instance {
	var out []plan.Instance
	for _, s := range l.schedule.instancesToLaunch() {
		s.Arms = slices.DeleteFunc(slices.Clone(s.Arms), func(a plan.PlannedArm) bool { return l.instances.arm(a.Name) != nil })
		if len(s.Arms) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// retryOnce launches instances again. An instance that runs lacks its neighbour only.
func (l *loadRun) retryOnce(ctx context.Context, missing []plan.Instance, line *record.Generation) error {
	var whole []plan.Instance
	for _, s := range missing {
		running := l.runningInstance(s)
		if running == nil {
			whole = append(whole, s)
		} else if err := l.retryNeighbour(ctx, running, s, line); err != nil {
			return err
		}
	}
	before := len(l.instances.all)
	if err := l.startAll(ctx, whole, line); err != nil {
		return err
	}
	return l.awaitReady(ctx, slices.Clone(l.instances.all[before:]), line)
}

// runningInstance returns the running instance on which an arm of the planned instance would be measured; nil:
// none runs.
func (l *loadRun) runningInstance(missing plan.Instance) *instance {
	for _, s := range plan.Instances(l.load.Arms) {
		has := func(name string) bool {
			return slices.ContainsFunc(s.Arms, func(a plan.PlannedArm) bool { return a.Name == name })
		}
		if !has(missing.Arms[0].Name) {
			continue
		}
		for _, a := range l.instances.arms {
			if has(a.planned.Name) {
				return a.instance
			}
		}
	}
	return nil
}

// retryNeighbour starts the neighbour of an instance that runs without it. Nothing is measured yet, so
// that the neighbour that failed can be closed now.
func (l *loadRun) retryNeighbour(ctx context.Context, s *instance, planned plan.Instance, line *record.Generation) error {
	if s.endedNeighbour != nil {
		if err := s.endedNeighbour.close(); err != nil {
			return err
		}
		s.endedNeighbour = nil
	}
	s.neighbourErr = nil
	err := l.startNeighbour(ctx, s, planned)
	if err != nil && s.neighbour != nil {
		err = errors.Join(err, s.endNeighbour())
	}
	if err == nil {
		err = s.neighbourErr
	}
	for _, a := range planned.Arms {
		if err == nil {
			l.instances.add(a, s)
		} else if err := l.armFailed(ctx, a, err, line); err != nil {
			return err
		}
	}
	l.instances.sort(l.load.Arms)
	return nil
}
