package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/sched"
	"github.com/tarelab/tare/record"
)

// launch opens all arms, starts their loads, waits until each is ready, and pauses it. It leaves out an
// arm that fails; a failure of the baseline or its twin is an error.
func (l *loadRun) launch(ctx context.Context) (err error) {
	began := time.Now()
	l.run.guard.Attend()
	if err := l.run.programs.changedOrMoved(); err != nil {
		return err
	}
	l.run.showProgress(l.event("launch"))
	line := &record.Generation{Workload: l.load.Name, Number: l.schedule.launch}
	l.instances.retrying = !l.schedule.piloted
	if err := l.startAll(ctx, l.schedule.instancesToLaunch(), line); err != nil {
		return err
	}
	if err := l.awaitReady(ctx, slices.Clone(l.instances.all), line); err != nil {
		return err
	}
	l.schedule.launchTime = time.Since(began)
	l.schedule.making = l.instances.making()
	if !l.schedule.piloted {
		if err := l.checkFirstLaunch(ctx, line, began); err != nil {
			return err
		}
	}
	if err := l.run.programs.changed(); err != nil { // arms may have started different files
		return err
	}
	if line.PlacementsDrawn, err = l.drawPlacements(); err != nil {
		return err
	}
	line.Seconds = time.Since(began).Seconds()
	return l.run.rec.append(record.Line{Generation: line})
}

// checkFirstLaunch launches failed arms again, reads back the settings of all arms, and compares their
// durability.
func (l *loadRun) checkFirstLaunch(ctx context.Context, line *record.Generation, began time.Time) error {
	if err := l.retry(ctx, line, began); err != nil {
		return err
	}
	if err := l.nothingLeft(line.Left); err != nil {
		return err
	}
	if err := l.identifyMapped(); err != nil {
		return err
	}
	if err := l.readBack(ctx, line); err != nil {
		return err
	}
	return l.compareDurability(ctx, line)
}

// nothingLeft refuses to measure the baseline and its twin alone if the plan has other arms and
// none of them could be launched.
func (l *loadRun) nothingLeft(left []record.Left) error {
	if l.compares() || len(left) == 0 {
		return nil
	}
	var reasons []string
	remedy := ""
	for _, x := range left {
		reasons = append(reasons, x.Arm+": "+strings.TrimPrefix(said.English(x.Reason), facts.ErrUnsupported.Error()+": "))
		remedy = cmp.Or(remedy, said.English(x.Remedy))
	}
	return hint.New(fmt.Errorf("nothing is left to compare with %s (%w): %s", l.load.Baseline, facts.ErrUnsupported,
		strings.Join(reasons, "; ")), remedy)
}

// awaitReady waits for the loads of these instances, lets all of them settle, then pauses each and opens
// its probes. A load that is ready waits at its gate: it must not take the CPU from loads that are
// still starting.
func (l *loadRun) awaitReady(ctx context.Context, instances []*instance, line *record.Generation) error {
	failed := l.readiness(ctx, instances)
	if err := l.eachInstance(ctx, instances, line, func(s *instance) error { return failed[s] }); err != nil {
		return err
	}
	if settle := l.load.Stages.Settle; settle > 0 {
		longest := time.Duration(0)
		if err := l.eachInstance(ctx, instances, line, func(s *instance) error {
			settling, err := s.session.Settle(ctx, settle)
			longest = max(longest, settling)
			return err
		}); err != nil {
			return err
		}
		if err := sleep(ctx, sched.Monotonic()+int64(longest)); err != nil {
			return err
		}
	}
	return l.eachInstance(ctx, instances, line, func(s *instance) error {
		err := s.session.PausePatiently()
		if err == nil {
			l.warnOfServer(s)
			s.session.Observe(l.run.config.Probes)
		}
		return err
	})
}

// drawPlacements lets every window begin with a placement of its own, in all arms or in none.
func (l *loadRun) drawPlacements() (drawn bool, err error) {
	if !slices.ContainsFunc(l.instances.all, func(s *instance) bool { return s.session.DrawPlacement() != nil }) {
		return true, nil
	}
	var errs []error
	for _, s := range l.instances.all {
		errs = append(errs, s.session.KeepPlacement())
	}
	return false, errors.Join(errs...)
}

// readiness waits until every load is ready or has failed. It returns the errors of the failed instances.
func (l *loadRun) readiness(ctx context.Context, instances []*instance) map[*instance]error {
	within := l.data.readyWithin(len(instances))
	deadline := time.Now().Add(within)
	failed := map[*instance]error{}
	waiting := slices.Clone(instances)
	for starting := -1; len(waiting) > 0; time.Sleep(2 * time.Millisecond) {
		if starting != len(waiting) {
			starting = len(waiting)
			e := l.event("launch")
			e.Ready, e.Starting = len(instances)-starting, len(instances)
			l.run.showProgress(e)
		}
		waiting = slices.DeleteFunc(waiting, func(s *instance) bool {
			ready, err := s.ready(ctx, deadline, within)
			if err != nil {
				failed[s] = err
			}
			return ready || err != nil
		})
	}
	return failed
}

// eachInstance calls step for each instance. It leaves out an instance whose step fails.
func (l *loadRun) eachInstance(ctx context.Context, instances []*instance, line *record.Generation, step func(*instance) error) error {
	for _, s := range instances {
		if !slices.Contains(l.instances.all, s) {
			continue // an earlier step failed
		}
		if err := step(s); err != nil {
			if err := l.instanceFailed(ctx, s, err, line); err != nil {
				return err
			}
		}
	}
	return nil
}

// instanceFailed leaves the arms of an instance out of this launch. It adds the last lines of the instance's log to err.
func (l *loadRun) instanceFailed(ctx context.Context, s *instance, err error, line *record.Generation) error {
	if tail := lastLines(s.log.Name()); tail != "" {
		err = fmt.Errorf("%w%s", err, tail)
	}
	return l.removeFailed(ctx, s, err, line)
}

// removeFailed removes an instance and leaves its arms out of this launch.
func (l *loadRun) removeFailed(ctx context.Context, s *instance, err error, line *record.Generation) error {
	arms := l.instances.armsOn(s)
	errs := []error{l.instances.remove(s)}
	for _, a := range arms {
		errs = append(errs, l.armFailed(ctx, a.planned, err, line))
	}
	return errors.Join(errs...)
}

// instanceFailedIfDead handles an error of an instance. If the instance's processes have ended, that is the cause, and
// the instance's arms are left out; otherwise it returns err.
func (l *loadRun) instanceFailedIfDead(ctx context.Context, s *instance, err error, line *record.Generation) error {
	const dyingTime = 500 * time.Millisecond // until a process that is ending has ended
	if died := s.diedBy(time.Now().Add(dyingTime)); died != nil {
		return l.instanceFailed(ctx, s, died, line)
	}
	return err
}

// closeArms ends the launch: it closes all arms, then their volumes.
func (l *loadRun) closeArms() error {
	defer func(began time.Time) { l.schedule.closeTime = time.Since(began) }(time.Now())
	l.run.guard.Attend()
	err := l.instances.close()
	l.forgetLayers()
	return errors.Join(err, l.closeVolumes())
}
