package run

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/reserve"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/record"
)

// turns runs the passes of the plan: in each, one workload after the other. Each
// inherits the time that the ones before it did not use.
func (r *runner) turns(ctx context.Context) (reason string, err error) {
	loads := r.loadRuns()
	defer func() {
		for _, l := range loads {
			l.release()
		}
	}()
	started := time.Now()
	for _, l := range loads {
		if l.question == nil {
			continue
		}
		if err := r.turn(ctx, l, plan.FirstPassTime(l.share)); err != nil {
			return reasonOf(err), err
		}
	}
	shares := time.Duration(0)
	weights := weigh(loads)
	for i, l := range loads {
		l.question = nil // from here on all arms
		l.share = time.Duration(weights[i] * float64(max(l.share-l.spent, 0)))
		shares += l.share
	}
	reason = "precision"
	for _, l := range loads {
		remaining := r.total() - time.Since(started)
		budget := time.Duration(float64(remaining) * float64(l.share) / float64(max(shares, 1)))
		shares -= l.share
		if remaining <= 0 && len(l.lines) == 0 && l.over == nil {
			r.skip(noTimeFor(l.load.Workload))
		}
		if remaining > 0 || l == loads[0] && len(l.lines) == 0 {
			if err := r.turn(ctx, l, budget); err != nil {
				return reasonOf(err), err
			}
		}
		if l.ended != "precision" && l.over == nil {
			reason = "budget"
		}
	}
	if err := noneRan(loads); err != nil {
		return reasonOf(err), err
	}
	return reason, nil
}

// noneRan is why the first workload could not be measured here, where none could.
func noneRan(loads []*loadRun) error {
	for _, l := range loads {
		if l.over == nil {
			return nil
		}
	}
	return loads[0].over
}

// mostWeight is how much more time than usual a noisy workload gets at most, and how
// much less a quiet one.
const mostWeight = 2

// weigh divides the time of the second pass: a workload needs it in proportion to the
// variance that the first pass saw, not to the effect. Shares that the experiment has
// chosen stay as they are, and so do those of workloads without a first pass.
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

// perArm is the time that the plan has for each of the arms, in seconds.
func (l *loadRun) perArm() float64 { return l.load.Budget / float64(len(l.load.Arms)) }

// variance is that of the arm of the first pass over the time that it took; NaN
// where it is not known.
func (l *loadRun) variance() float64 {
	for _, r := range l.running {
		if l.question != nil && r.Arm == l.question[len(l.question)-1] && !math.IsInf(r.Half, 0) {
			return r.Half * r.Half * l.spent.Seconds()
		}
	}
	return math.NaN()
}

// turn measures one workload in one pass. One that this host cannot have is left
// out when there are others.
func (r *runner) turn(ctx context.Context, l *loadRun, budget time.Duration) (err error) {
	if l.over != nil {
		return nil
	}
	l.began, l.budget = time.Now(), budget
	l.ended, err = l.execute(ctx)
	l.spent += time.Since(l.began)
	switch {
	case ctx.Err() != nil:
		return ErrInterrupted
	case errors.Is(err, facts.ErrUnsupported) && len(r.Plan.Loads) > 1:
		l.over = fmt.Errorf("workload %s: %w", l.load.Name, err)
		r.skip(record.Left{Workload: l.load.Name, Arm: l.load.Baseline, Reason: err.Error(), Remedy: hint.Of(err)})
	case err != nil:
		return fmt.Errorf("workload %s: %w", l.load.Name, err)
	}
	return nil
}

// reasonOf is the reason of record.End for what ended a run.
func reasonOf(err error) string {
	switch {
	case errors.Is(err, ErrInterrupted):
		return "interrupted"
	case errors.Is(err, reserve.ErrShort):
		return record.EndedFull
	}
	return "error"
}

func (r *runner) total() time.Duration { return seconds(r.Plan.Record.Budget) }

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// loadRuns are the workloads before their first turns.
func (r *runner) loadRuns() []*loadRun {
	var all []*loadRun
	for i := range r.Plan.Loads {
		load := &r.Plan.Loads[i]
		l := &loadRun{
			runner: r, load: load, number: i, share: seconds(load.Budget),
			failures: map[string]int{}, gaveUp: map[string]bool{},
		}
		if l.question = r.Plan.FirstPass(load); l.question != nil {
			l.passes = 1
		}
		l.passes++
		l.resume(r.Earlier)
		all = append(all, l)
	}
	return all
}

// noTimeFor leaves a workload out whose turn came after the end.
func noTimeFor(w record.Workload) record.Left {
	return record.Left{
		Workload: w.Name, Arm: w.Baseline, Reason: record.LeftBudget,
		Remedy: "give the run a longer --budget, or name fewer workloads with --workload",
	}
}
