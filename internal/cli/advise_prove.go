package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/analysis"
	"github.com/tarelab/tare/internal/analysis/cause"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/catalog"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/planning/remedy"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// attempt is the search for the remedy of one loss.
type attempt struct {
	*adviser
	loss       *record.AdviceLoss
	causes     []record.CauseShare // of the loss, as its result has them
	base, lost experiment.ArmSpec
	on         remedy.Lost
	host       facts.Host
	candidates []remedy.Candidate
	launch     time.Duration // of one arm, in the result with the loss
	end        time.Time     // of the time for this loss
}

// proveAll proves a remedy of each loss in equal parts of the time, and prints the advice.
func (v *adviser) proveAll() (err error) {
	for i := range v.advice.Losses {
		left := time.Until(v.end) / time.Duration(len(v.advice.Losses)-i)
		if err = v.prove(&v.advice.Losses[i], time.Now().Add(left)); err != nil {
			break
		}
	}
	var forced *forcedError
	if errors.As(err, &forced) {
		return &forced.signalError
	}
	err = cmp.Or(err, v.write())
	if perr := v.printAdvice(v.console, &v.advice); perr != nil {
		return cmp.Or(err, perr)
	}
	if v.made {
		v.note("%s %s", v.paint(v.stderr, dim, "advice and results in"), v.dir)
	}
	return err
}

// prove tries the candidates for a loss and measures the best one again.
func (v *adviser) prove(l *record.AdviceLoss, end time.Time) error {
	a := &attempt{adviser: v, loss: l, causes: l.Causes, end: end}
	if err := a.prepare(); err != nil {
		return err
	}
	defer a.keep()
	tried := a.supported()
	if len(a.candidates) == 0 {
		l.Reason = noRemedy
		if byItself(l.Causes) {
			l.Reason = ofItself
		}
		return nil
	}
	if len(tried) == 0 {
		l.Reason = noneHere
		return nil
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
	if a.launch, err = launchOf(a.result, load); err != nil {
		return err
	}
	a.base, a.lost = specOf(load, a.loss.Baseline), specOf(load, a.loss.Arm)
	w := a.e.Workload(load.Name)
	params := map[string]string{}
	for _, from := range []map[string]string{w.Params, a.lost.Set} {
		for name, value := range from {
			params[name] = value
		}
	}
	env, err := catalog.Environment(a.cluster(), a.lost.Environment)
	if err != nil {
		return fmt.Errorf("arm %s: environment %s: %w", a.lost.Name, a.lost.Environment, err)
	}
	if a.host, err = inspectHost(a.e.Only(load.Name, a.base, a.lost), a.Volume, a.cluster(), ""); err != nil {
		return err
	}
	n := a.e.Neighbour(a.lost.Neighbour)
	a.on = remedy.Lost{
		Arm: a.lost, Volume: cmp.Or(a.lost.Volume, a.e.Volume), Params: params, Can: env.Capabilities(), CPUs: a.host.Control.CPUs,
		Memory: a.advice.Host.Memory, NeighbourInPod: n != nil && n.Environment != "", Taken: []string{a.base.Name, a.lost.Name},
	}
	if kind, ok := catalog.Workload(w.Kind); ok {
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
	a.host, err = inspectHost(a.e.Only(load.Name, arms...), a.Volume, a.cluster(), "")
	return err
}

// workload is the load of the loss in the plan of the result.
func (a *attempt) workload() record.Workload {
	i := slices.IndexFunc(a.workloads, func(w record.Workload) bool { return w.Name == a.loss.Workload })
	return a.workloads[i]
}

func specOf(w record.Workload, name string) experiment.ArmSpec {
	i := slices.IndexFunc(w.Arms, func(x record.Arm) bool { return x.Name == name })
	return remedy.Spec(w.Arms[i])
}

// supported returns the candidates that this host can have and the time has room for. The others are
// skipped, with the reason.
func (a *attempt) supported() []int {
	var tried []int
	for i := range a.candidates {
		c := &a.candidates[i]
		if c.Skipped != nil {
			continue
		}
		p, err := a.trial(a.loss.Workload, time.Minute, coarse, a.host, a.base, a.lost, c.Spec)
		switch {
		case err != nil:
			c.Skipped = &record.Left{Workload: a.loss.Workload, Arm: c.Arm, Reason: err.Error(), Remedy: hint.Of(err)}
		case len(p.Left) > 0:
			c.Skipped = &p.Left[0]
		default:
			tried = append(tried, i)
		}
	}
	for len(tried) > 1 && (len(tried) > mostCandidates || !a.hasRoom(tried)) {
		n := a.spare(tried)
		c := &a.candidates[tried[n]]
		c.Skipped = &record.Left{Workload: a.loss.Workload, Arm: c.Arm, Reason: tooLittle, Remedy: moreBudget}
		tried = slices.Delete(tried, n, n+1)
	}
	return tried
}

// spare is the place of the candidate for which there is no room: the last one whose causes others before it are
// for too, so that each cause keeps a remedy; else the last one.
func (a *attempt) spare(tried []int) int {
	for n, i := range slices.Backward(tried) {
		others := map[record.LossCause]bool{}
		for _, before := range tried[:n] {
			for _, cause := range a.candidates[before].For {
				others[cause] = true
			}
		}
		if !slices.ContainsFunc(a.candidates[i].For, func(c record.LossCause) bool { return !others[c] }) {
			return n
		}
	}
	return len(tried) - 1
}

// hasRoom says whether verdicts on these candidates are possible in their part of the time.
func (a *attempt) hasRoom(tried []int) bool {
	p, err := a.trial(a.loss.Workload, a.part(partCandidates), coarse, a.host, a.arms(tried...)...)
	if err != nil {
		return false
	}
	least, ok := a.deciding(p)
	return !ok || least <= p.Expected()
}

// deciding is the least time in which a verdict is possible, with launches that take as long as those of the loss.
func (a *attempt) deciding(p *plan.Plan) (time.Duration, bool) {
	least, ok := p.Deciding()
	return max(least, metric.LeastLaunches*time.Duration(p.Arms())*a.launch*3/2), ok // half as much again for windows
}

// launchOf is the mean time of the launch of one arm of a load in a result.
func launchOf(r *record.Result, load record.Workload) (time.Duration, error) {
	seconds, arms := 0.0, 0
	err := r.Each(func(l *record.Line) {
		if g := l.Generation; g != nil && g.Workload == load.Name {
			seconds += g.Seconds
			arms += len(load.Arms)
		}
	})
	if err != nil || arms == 0 {
		return 0, err
	}
	return time.Duration(seconds / float64(arms) * float64(time.Second)), nil
}

// part is a part of the time that is left for this loss.
func (a *attempt) part(of float64) time.Duration {
	return time.Duration(of * float64(max(time.Until(a.end), 0)))
}

// arms are the baseline, the arm that lost and candidates.
func (a *attempt) arms(candidates ...int) []experiment.ArmSpec {
	out := []experiment.ArmSpec{a.base, a.lost}
	for _, i := range candidates {
		out = append(out, a.candidates[i].Spec)
	}
	return out
}

// measured runs a stage with candidates. It has the time in which a verdict is possible, if that is left, and at
// least the time that a quiet host needs for one.
func (a *attempt) measured(kind record.StageKind, budget time.Duration, precision float64, candidates ...int) (*record.Result, error) {
	arms := a.arms(candidates...)
	p, err := a.trial(a.loss.Workload, budget, precision, a.host, arms...)
	if err != nil {
		return nil, err
	}
	quiet, ok := p.Deciding()
	least, _ := a.deciding(p)
	if least = max(quiet, min(least, time.Until(a.end))); ok && least > budget {
		if p, err = a.trial(a.loss.Workload, least, precision, a.host, arms...); err != nil {
			return nil, err
		}
	}
	if !a.quiet() {
		a.note("%s", stageLine(kind, a.loss.Workload, strings.Join(a.names(candidates), ", ")))
	}
	result, _, err := a.stage(kind, a.loss.Workload, p, a.host)
	return result, err
}

// against compares candidates in a stage with an arm that lost.
func (a *attempt) against(r *record.Result, lost string, candidates ...int) ([]record.RemedyResult, error) {
	return analysis.Remedies(r, analysis.Remedied{
		Workload: a.loss.Workload, Metric: a.loss.Metric, Lost: lost, Baseline: a.base.Name, Arms: a.names(candidates),
	})
}

func (a *attempt) names(candidates []int) (out []string) {
	for _, i := range candidates {
		out = append(out, a.candidates[i].Arm)
	}
	return out
}

// leastFurther is the shortest time for which more launches are added to the candidates.
const leastFurther = 5 * time.Second

// compete measures all candidates together and returns the best one; -1: none helped, and the loss has the
// reason. Where none is shown to help and one is undecided, the proof decides about the one that promises most; if
// none does, more launches are added, as often as half of the time that is left allows.
func (a *attempt) compete(tried []int) (int, error) {
	precision := max(a.e.Precision, coarse)
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
		more := a.part(partCandidates)
		if !a.anyUndecided(tried) || more < leastFurther {
			break
		}
		p, perr := a.trial(a.loss.Workload, more, precision, a.host, a.arms(tried...)...)
		if perr != nil {
			return -1, perr
		}
		p.Record.Seed = r.Plan.Seed
		r, _, err = a.further(r.Dir, p, a.host)
	}
	a.loss.Standing, a.loss.Reason = record.StandingNoHelp, noneHelped
	for _, i := range slices.Backward(tried) {
		switch c := a.candidates[i]; c.Result.Answer.Word {
		case record.SaysUndecided:
			a.loss.Standing, a.loss.Reason = record.StandingUndecided, aboutMore(c.Arm, c.Result.Answer)
		case record.SaysInvalid:
			a.loss.Standing, a.loss.Reason = record.StandingInvalid, c.Result.Answer.Reason
		}
	}
	return -1, nil
}

// judge fills in what the candidates did, and the causes that this tells apart.
func (a *attempt) judge(r *record.Result, tried []int) error {
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

func (a *attempt) anyUndecided(tried []int) bool {
	return slices.ContainsFunc(tried, func(i int) bool { return a.candidates[i].Result.Answer.Word == record.SaysUndecided })
}
