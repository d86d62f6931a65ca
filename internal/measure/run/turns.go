package run

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/reserve"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/record"
)

// turns runs the passes of the plan: in each pass, one workload after the other gets a turn. A workload
// also gets the time that the workloads before it did not use.
func (r *runner) turns(ctx context.Context) (reason string, err error) {
	loads := r.loadRuns()
	defer func() {
		for _, l := range loads {
			l.data.unlock()
		}
	}()
	whole := startClock(seconds(r.config.Plan.Record.Budget))
	for _, l := range loads {
		if l.schedule.passes < 2 {
			continue
		}
		if err := r.turn(ctx, l, plan.FirstPassTime(l.schedule.share)); err != nil {
			return reasonOf(err), err
		}
	}
	shares := beginSecondPass(loads)
	reason = r.config.reached()
	for _, l := range loads {
		s := &l.schedule
		left := whole.left()
		budget := time.Duration(float64(left) * float64(s.share) / float64(max(shares, 1)))
		shares -= s.share
		nothingYet := len(l.results.lines) == 0
		if left <= 0 && nothingYet && s.skipped == nil {
			r.rec.leaveOut(noTimeFor(l.load.Workload))
		}
		if left > 0 || l == loads[0] && nothingYet {
			if err := r.turn(ctx, l, budget); err != nil {
				return reasonOf(err), err
			}
		}
		if s.endReason != r.config.reached() && s.skipped == nil {
			reason = "budget"
		}
	}
	if err := noneRan(loads); err != nil {
		return reasonOf(err), err
	}
	return reason, nil
}

// noneRan returns why the first workload was skipped, if all were; nil: at least one was measured.
func noneRan(loads []*loadRun) error {
	for _, l := range loads {
		if l.schedule.skipped == nil {
			return nil
		}
	}
	return loads[0].schedule.skipped
}

// beginSecondPass divides the rest of the time among the loads, and returns the sum of their shares.
func beginSecondPass(loads []*loadRun) (sum time.Duration) {
	var shares, least []time.Duration
	weights := weigh(loads)
	left, weighed := 0.0, 0.0
	for i, l := range loads {
		left, weighed = left+l.schedule.shareLeft().Seconds(), weighed+weights[i]*l.schedule.shareLeft().Seconds()
	}
	for i, weight := range weights {
		shares = append(shares, loads[i].schedule.beginSecondPass(weight*left/max(weighed, 1e-9)))
		least = append(least, loads[i].schedule.leastShare())
	}
	for i, share := range plan.AtLeast(shares, least) {
		loads[i].schedule.share = share
		sum += share
	}
	return sum
}

// mostWeight is the largest factor by which weigh gives a noisy workload more time than planned, or
// a quiet one less.
const mostWeight = 4

// weigh returns, for each workload, the factor for its time in the second pass. The time for a given
// precision is proportional to the variance that the first pass saw. All factors are 1 if the
// experiment chose different shares, or a workload had no first pass.
func weigh(loads []*loadRun) []float64 {
	weights := make([]float64, len(loads))
	variances, logs := make([]float64, len(loads)), 0.0
	for i, l := range loads {
		weights[i] = 1
		variances[i] = l.variance()
		logs += math.Log(variances[i]) / float64(len(loads))
		if !(variances[i] > 0) || math.Abs(l.perArm()/loads[0].perArm()-1) > 1e-6 {
			return slices.Repeat([]float64{1}, len(loads))
		}
	}
	for i, v := range variances {
		weights[i] = min(max(v/math.Exp(logs), 1.0/mostWeight), mostWeight)
	}
	return weights
}

// perArm is the time in seconds that the plan has for each arm.
func (l *loadRun) perArm() float64 { return l.load.Budget / float64(len(l.load.Arms)) }

// variance is the subject's variance after the first pass, of windows and of launches, times the seconds of the pass: the
// variance per second of measuring. Two to four launches hardly show how much launches differ, so that the likely value
// (stat.Fit.LaunchSD) leans on what is usual. NaN: unknown.
func (l *loadRun) variance() float64 {
	s := &l.schedule
	for _, r := range l.results.effects {
		if s.passes == 2 && r.Arm == l.load.Subject && r.Noise > 0 && s.launch > 0 {
			return plan.Variance(r.Noise, s.launchSD, s.launch) * s.spent.Seconds()
		}
	}
	return math.NaN()
}

// turn measures one workload in one pass. If this host does not support the workload and the plan has
// others, turn skips it.
func (r *runner) turn(ctx context.Context, l *loadRun, budget time.Duration) (err error) {
	s := &l.schedule
	if s.skipped != nil {
		return nil
	}
	s.beginTurn(budget)
	s.endReason, err = l.execute(ctx)
	err = r.replacedFirst(ctx, err)
	err = errors.Join(err, l.release())
	s.spent += s.clock.spent()
	switch {
	case ctx.Err() != nil:
		return ErrInterrupted
	case errors.Is(err, facts.ErrUnsupported) && len(r.config.Plan.Loads) > 1:
		s.skipped = fmt.Errorf("workload %s: %w", l.load.Name, err)
		r.rec.leaveOut(record.Left{Workload: l.load.Name, Arm: l.load.Baseline, Reason: record.InProse(err.Error()), Remedy: record.InProse(hint.Of(err))})
	case err != nil:
		return fmt.Errorf("workload %s: %w", l.load.Name, err)
	}
	return nil
}

// release removes what environments have kept from launch to launch. The next workload may need its room.
func (l *loadRun) release() error {
	l.run.guard.Attend()
	var errs []error
	for _, a := range l.load.Arms {
		if k, ok := a.Env.(environment.Keeper); ok {
			errs = append(errs, k.Release(l.run.config.ID))
		}
	}
	return errors.Join(errs...)
}

// reasonOf is the reason in record.End for the error that ended a run.
func reasonOf(err error) string {
	switch {
	case errors.Is(err, ErrInterrupted):
		return "interrupted"
	case errors.Is(err, reserve.ErrShort):
		return record.EndedFull
	}
	return "error"
}

// loadRuns returns the workloads before their first turns.
func (r *runner) loadRuns() []*loadRun {
	var all []*loadRun
	for i := range r.config.Plan.Loads {
		l := newLoadRun(r, &r.config.Plan.Loads[i], i)
		l.resume(r.config.Earlier)
		all = append(all, l)
	}
	return all
}

// noTimeFor is the record's entry for a workload that was skipped because the budget was used up.
func noTimeFor(w record.Workload) record.Left {
	return record.Left{
		Workload: w.Name, Arm: w.Baseline, Reason: record.Say(record.LeftBudget),
		Remedy: record.Say("longer_budget_or_loads"),
	}
}
