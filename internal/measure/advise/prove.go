package advise

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/analysis"
	"github.com/tarelab/tare/internal/analysis/cause"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/planning/remedy"
	"github.com/tarelab/tare/record"
)

// attempt is the search for the remedy of one loss.
type attempt struct {
	*Search
	loss       *record.AdviceLoss
	causes     []record.CauseShare // of the loss, as its result has them
	base, lost experiment.ArmSpec
	on         remedy.Lost
	host       facts.Host
	candidates []remedy.Candidate
	pace       pace
	end        time.Time // of the time for this loss
}

// Prove proves a remedy of each loss in equal parts of the time.
func (s *Search) Prove() error {
	for i := range s.Advice.Losses {
		left := time.Until(s.End) / time.Duration(len(s.Advice.Losses)-i)
		if err := s.prove(&s.Advice.Losses[i], time.Now().Add(left)); err != nil {
			return err
		}
	}
	return nil
}

// prove tries the candidates for a loss and measures the best one again.
func (s *Search) prove(l *record.AdviceLoss, end time.Time) error {
	a := &attempt{Search: s, loss: l, causes: l.Causes, end: end}
	if err := a.prepare(); err != nil {
		return err
	}
	defer a.keep()
	tried := a.supported()
	switch {
	case len(a.candidates) == 0 && len(l.Causes) == 0:
		l.Reason = record.Say("cause_unfound")
	case len(a.candidates) == 0 && byItself(l.Causes):
		l.Reason = record.Say("slower_of_itself")
	case len(a.candidates) == 0:
		l.Reason = record.Say("remedy_unknown")
	case len(tried) == 0:
		l.Reason = record.Say("no_remedy_here")
	case a.part(1) < leastStage:
		l.Reason = record.Say("no_time_to_try")
	default:
		err := a.search(tried)
		a.contradict()
		return err
	}
	return nil
}

// search measures the candidates, and the best one once more.
func (a *attempt) search(tried []int) error {
	if len(tried) == 1 { // nothing to choose from: the proof is the first stage that tries it
		return a.confirm(tried[0])
	}
	best, err := a.compete(tried)
	if err != nil || best < 0 {
		return err
	}
	if best, err = a.together(best); err != nil {
		return err
	}
	return a.confirm(best)
}

// byItself reports whether the load's own parameters are the only cause.
func byItself(causes []record.CauseShare) bool {
	return len(causes) > 0 && !slices.ContainsFunc(causes, func(c record.CauseShare) bool { return !slices.Equal(c.Causes, []record.LossCause{record.LossServer}) })
}

// prepare finds the candidates, and asks this host about all of them.
func (a *attempt) prepare() (err error) {
	load := a.workload()
	if a.pace, err = paceOf(a.found.Result, load); err != nil {
		return err
	}
	a.base, a.lost = specOf(load, a.loss.Baseline), specOf(load, a.loss.Arm)
	w := a.Experiment.Workload(load.Name)
	params := map[string]string{}
	for _, from := range []map[string]string{w.Params, a.lost.Set} {
		for name, value := range from {
			params[name] = value
		}
	}
	env, err := a.Catalog.Rung(a.lost.Environment)
	if err != nil {
		return fmt.Errorf("arm %s: environment %s: %w", a.lost.Name, a.lost.Environment, err)
	}
	if a.host, err = a.Inspect(a.Experiment.Only(load.Name, a.base, a.lost)); err != nil {
		return err
	}
	n := a.Experiment.Neighbour(a.lost.Neighbour)
	service := slices.ContainsFunc(load.Arms, func(x record.Arm) bool { return x.Name == a.lost.Name && x.RunsAs == record.AsService })
	a.on = remedy.Lost{
		Arm: a.lost, Volume: cmp.Or(a.lost.Volume, a.Experiment.Volume), Params: params, Can: env.Capabilities(), CPUs: a.host.Control.CPUs, Service: service, Received: cause.Received(a.found.Effects, load.Name, a.lost.Name),
		Memory: a.Advice.Host.Memory, NeighbourInPod: n != nil && n.Environment != "", Taken: []string{a.base.Name, a.lost.Name},
	}
	if kind, ok := a.Catalog.Workload(w.Kind); ok {
		if stages, err := kind.Stages(params); err == nil {
			a.on.Server = stages.Server != nil
		}
	}
	a.candidates = remedy.Candidates(a.on, a.loss.Causes)
	arms := []experiment.ArmSpec{a.base, a.lost}
	for _, c := range a.candidates {
		if c.Skipped == nil {
			arms = append(arms, c.Spec)
		}
	}
	a.host, err = a.Inspect(a.Experiment.Only(load.Name, arms...))
	return err
}

// workload is the load of the loss in the plan of the result.
func (a *attempt) workload() record.Workload {
	i := slices.IndexFunc(a.found.Plan.Workloads, func(w record.Workload) bool { return w.Name == a.loss.Workload })
	return a.found.Plan.Workloads[i]
}

func specOf(w record.Workload, name string) experiment.ArmSpec {
	i := slices.IndexFunc(w.Arms, func(x record.Arm) bool { return x.Name == name })
	return remedy.Spec(w.Arms[i])
}

// arms are the baseline, the arm that lost and candidates.
func (a *attempt) arms(candidates ...int) []experiment.ArmSpec {
	out := []experiment.ArmSpec{a.base, a.lost}
	for _, i := range candidates {
		out = append(out, a.candidates[i].Spec)
	}
	return out
}

// measured runs a stage with candidates. It says beforehand that the stage is too short for a verdict.
func (a *attempt) measured(kind record.StageKind, budget time.Duration, precision float64, candidates ...int) (Measured, error) {
	p, err := a.planned(kind, budget, precision, candidates...)
	if err != nil {
		return Measured{}, err
	}
	a.Stage(a.loss.Workload, kind, a.names(candidates))
	if least, ok := a.pace.deciding(p); ok && least > p.Expected()+time.Second {
		a.Note("advise.step.short", "time", quantity.Duration(math.Ceil(p.Expected().Seconds())), "least", quantity.Duration(math.Ceil(least.Seconds())))
	}
	return a.stage(kind, a.loss.Workload, p, a.host)
}

// against compares candidates in a stage with an arm that lost.
func (a *attempt) against(r Measured, lost string, candidates ...int) ([]record.RemedyResult, error) {
	out, err := analysis.Remedies(r.Result, r.Effects, analysis.Remedied{
		Workload: a.loss.Workload, Metric: a.loss.Metric, Lost: lost, Baseline: a.base.Name, Arms: a.names(candidates),
	})
	for i := range out {
		out[i].Stage = filepath.Base(r.Dir)
	}
	return out, err
}

func (a *attempt) names(candidates []int) (out []string) {
	for _, i := range candidates {
		out = append(out, a.candidates[i].Arm)
	}
	return out
}

// leastFurther is the shortest time for which more launches are added to a stage, leastStage that of a stage.
const leastFurther, leastStage = 5 * time.Second, 5 * time.Second

// compete measures all candidates together and returns the best one; -1: none helped, and the loss has the
// reason. Where none is shown to help and one is undecided, the proof decides about the one that promises most; if
// none does, more launches are added, as often as half of the time that is left allows.
func (a *attempt) compete(tried []int) (int, error) {
	precision := max(a.Experiment.Precision, coarse)
	r, err := a.measured(record.StageCandidates, a.part(partCandidates), precision, tried...)
	for {
		if err == nil {
			err = a.judge(r, tried)
		}
		if err != nil {
			return -1, err
		}
		if helped := a.helped(); len(helped) > 0 {
			return helped[0], nil
		}
		if best := a.promising(); best >= 0 {
			return best, nil
		}
		more := min(a.part(partCandidates), a.beforeProof(tried[0]))
		if !a.anyOpen(tried) || more < leastFurther {
			break
		}
		if r, err = a.longer(record.StageCandidates, r, more, precision, tried...); err != nil {
			return -1, err
		}
	}
	a.loss.Standing, a.loss.Reason = record.StandingNoHelp, record.Say("none_faster")
	for _, i := range slices.Backward(tried) {
		switch c := a.candidates[i]; c.Result.Answer.Word {
		case record.SaysUndecided:
			a.loss.Standing, a.loss.Reason = record.StandingUndecided, aboutMore(c.Remedies, c.Result.Answer)
		case record.SaysInvalid:
			a.loss.Standing, a.loss.Reason = record.StandingInvalid, c.Result.Answer.Reason
		}
	}
	return -1, nil
}

// longer adds launches to the last stage.
func (a *attempt) longer(kind record.StageKind, r Measured, more time.Duration, precision float64, candidates ...int) (Measured, error) {
	p, err := a.planned(kind, more, precision, candidates...)
	if err != nil {
		return Measured{}, err
	}
	p.Record.Seed = r.Plan.Seed
	return a.further(r.Dir, p)
}

// judge fills in what the candidates did, and the causes that this tells apart.
func (a *attempt) judge(r Measured, tried []int) error {
	results, err := a.against(r, a.lost.Name, tried...)
	if err != nil {
		return err
	}
	for n, i := range tried {
		a.candidates[i].Result = &results[n]
	}
	if err := a.keep(); err != nil {
		return err
	}
	a.separate()
	return nil
}

// separate tells the causes of the result apart by what the candidates did so far.
func (a *attempt) separate() {
	l := *a.loss
	l.Causes = a.causes
	a.loss.Causes = cause.Separated(l)
}

// anyOpen reports whether more launches may decide about a candidate: one is undecided, or has no verdict because a
// twin differs.
func (a *attempt) anyOpen(tried []int) bool {
	return slices.ContainsFunc(tried, func(i int) bool { return isOpen(a.candidates[i].Result.Answer.Word) })
}

func isOpen(w record.AnswerWord) bool { return w == record.SaysUndecided || w == record.SaysInvalid }

// aboutMore is the reason of an undecided remedy.
func aboutMore(remedies []string, s record.Says) record.Said {
	names := strings.Join(remedies, " + ")
	switch {
	case s.Seconds > 0:
		return record.Say("remedies_undecided", "remedies", names, "seconds", s.Seconds)
	case !s.Reason.IsZero():
		return record.Say("remedies_because", "remedies", names, "reason", s.Reason)
	}
	return record.InProse(names)
}
