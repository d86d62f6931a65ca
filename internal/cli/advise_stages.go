package cli

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/analysis/cause"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/catalog"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/measure/run"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/undo/hostlock"
	"github.com/tarelab/tare/record"
)

// How the time of an advice is divided.
const (
	adviceTime = 3 * time.Minute // for each load
	// The first stage has this part of the whole, and as much again as long as no loss is shown and one may be;
	// the others have parts of what is left for their loss.
	partLoss       = 0.25
	partCandidates = 0.5
	partTogether   = 0.35
	// coarse is the precision of the stages before the proof, as a ratio. Half-widths of a tenth of an
	// effect end them too.
	coarse = 0.03
	// mostCandidates are measured together: more arms have wider intervals.
	mostCandidates = 6
)

// adviser measures the stages of an advice.
type adviser struct {
	*adviseCommand
	*console
	e         *experiment.Experiment
	workloads []record.Workload // of the result with the losses
	result    *record.Result
	effects   *record.Effects // of the result
	dir       string          // of the advice
	made      bool            // a stage has made dir
	lock      *hostlock.Lock
	host      facts.Host
	end       time.Time     // of the whole time
	over      time.Duration // by which a stage took longer than planned: launches that end late, and the analysis
	total     time.Duration
	protected []record.Left // arms with isolation, which the first stage leaves out
	advice    record.Advice
}

// begin starts the advice of a result that was measured before.
func (v *adviser) begin(e *record.Effects, dir string) error {
	at, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	v.advice.Schema, v.advice.Started = record.AdviceSchema, e.Started
	v.advice.Stages = []record.AdviceStage{{Kind: record.StageLoss, Dir: at, Seconds: e.Seconds, Seed: e.Seed}}
	noteIn(&v.advice.Stages[0], e)
	return nil
}

// noteIn fills in what must be known of a stage beside its figures.
func noteIn(st *record.AdviceStage, e *record.Effects) {
	if st.Warnings, st.Dropped = slices.Concat(e.Caveats, e.Warnings), nil; e.Dropped.Windows > 0 {
		st.Dropped = &e.Dropped
	}
	if e.Answer != nil {
		st.Foreign = e.Answer.Noise.ForeignHigh
	}
}

// open makes this run the only one on the host and starts its time.
func (v *adviser) open(loads int) (err error) {
	if v.total, err = v.budgetFor(loads); err != nil {
		return err
	}
	if v.dir, v.lock, err = aloneInto(v.adviceDir(), v.Beside); err != nil {
		return err
	}
	v.warnOfUsers()
	v.noteLeftovers()
	v.end = time.Now().Add(v.total)
	if v.advice.Schema == "" {
		v.advice.Schema, v.advice.Started = record.AdviceSchema, time.Now().UTC().Format(time.RFC3339)
	}
	return nil
}

func (v *adviser) close() { v.lock.Release() }

// first measures the experiment without the arms that are remedies already.
func (v *adviser) first() (*record.Result, *record.Effects, error) {
	e := v.e
	var err error
	if v.protected, err = unprotected(e); err != nil {
		return nil, nil, err
	}
	for _, l := range v.protected {
		v.note("advise.protected", "load", l.Workload, "arm", l.Arm)
	}
	e.Budget = time.Duration(partLoss * float64(v.total))
	host, err := inspectHost(e, v.Volume, v.cluster(), "")
	if err != nil {
		return nil, nil, err
	}
	if host.PodNode != "" {
		return nil, nil, &usageError{errors.New(said.English(adviceOnNode)), "run tare on the node"}
	}
	p, err := v.plan(e, host)
	if err != nil {
		return nil, nil, err
	}
	// The least time in which a verdict is possible, if the rest of the time is as long.
	if least, ok := p.Deciding(); ok && least > e.Budget && 2*least <= v.total {
		e.Budget = least
		if p, err = v.plan(e, host); err != nil {
			return nil, nil, err
		}
	}
	if p.Expected() < p.Least() {
		return nil, nil, v.tooShort(p)
	}
	result, effects, err := v.stage(record.StageLoss, "", p, host)
	for had := 0.0; err == nil && v.mayLose(result, effects) && v.until(v.end) > leastFurther && effects.Seconds > had; {
		had = effects.Seconds
		e.Budget = min(e.Budget, v.until(v.end).Round(time.Second))
		if p, err = v.plan(e, host); err != nil || p.Expected() < p.Least() {
			break
		}
		p.Record.Seed = result.Plan.Seed
		result, effects, err = v.further(result.Dir, p, host)
	}
	return result, effects, err
}

// until is the time that a stage can plan with before an end.
func (v *adviser) until(end time.Time) time.Duration { return max(time.Until(end)-v.over, 0) }

// unprotected removes the arms with isolation from an experiment. It is an error if no workload has an arm to
// compare then.
func unprotected(e *experiment.Experiment) (removed []record.Left, err error) {
	compared := 0
	for name, arms := range e.Unprotected() {
		for _, arm := range arms {
			removed = append(removed, record.Left{Workload: name, Arm: arm, Reason: isProtected})
		}
	}
	for i := range e.Workloads {
		if !e.Alone(e.Workloads[i].Name) {
			compared++
		}
	}
	slices.SortFunc(removed, func(a, b record.Left) int {
		return cmp.Or(strings.Compare(a.Workload, b.Workload), strings.Compare(a.Arm, b.Arm))
	})
	if len(removed) > 0 && compared == 0 {
		return nil, noneUnprotected(removed)
	}
	return removed, nil
}

// noneUnprotected is the error of an experiment or a result in which every arm has isolation.
func noneUnprotected(removed []record.Left) error {
	var names []string
	for _, l := range removed {
		names = append(names, l.Workload+"/"+l.Arm)
	}
	return hint.New(fmt.Errorf("%w: every arm that could be compared with its baseline has isolation: %s", facts.ErrUnsupported, strings.Join(names, ", ")),
		"tare advise looks for what helps an arm without isolation: add one beside the neighbour; tare run measures these arms")
}

// protectedIn are the arms of a result with isolation, which have a remedy already, and whether one without is compared
// with a baseline.
func protectedIn(all []record.Workload) (removed []record.Left, compared bool) {
	for _, w := range all {
		for _, a := range w.Arms {
			switch {
			case a.Name == w.Baseline || a.Twin:
			case len(a.Isolation) == 0:
				compared = true
			default:
				removed = append(removed, record.Left{Workload: w.Name, Arm: a.Name, Reason: isProtected})
			}
		}
	}
	return removed, compared
}

// tooShort is the error of a time in whose first part no arm can be launched; p plans that part. The time named is
// one in which a loss can be decided.
func (v *adviser) tooShort(p *plan.Plan) error {
	want := time.Duration(float64(p.Least()) / partLoss)
	if least, ok := p.Deciding(); ok {
		want = max(want, 2*least)
	}
	err := errors.New(shortAdvice(quantity.Duration(v.total.Seconds()), quantity.Duration(math.Ceil(want.Seconds()))))
	return &usageError{hint.New(err, longer), ""}
}

// mayLose reports whether no load is shown to lose and more time may show that one does.
func (v *adviser) mayLose(r *record.Result, e *record.Effects) bool {
	losses, _ := cause.Of(e, r.Plan)
	return len(losses) == 0 && cause.Open(e, r.Plan)
}

// further adds launches to the last stage, whose result is in dir.
func (v *adviser) further(dir string, p *plan.Plan, host facts.Host) (*record.Result, *record.Effects, error) {
	earlier, err := run.Reopen(dir)
	if err != nil {
		return nil, nil, err
	}
	p.ShareAs(earlier.Result.Plan)
	show := v.progress(p, v.progressFlags)
	show.start(p, dir)
	return v.measureInto(&v.advice.Stages[len(v.advice.Stages)-1], run.Config{Plan: p, Dir: dir, Groups: host.Groups, Earlier: earlier}, show)
}

// stage measures a plan into a directory of its own below that of the advice.
func (v *adviser) stage(kind record.StageKind, load string, p *plan.Plan, host facts.Host) (*record.Result, *record.Effects, error) {
	name := fmt.Sprintf("%d-%s", len(v.advice.Stages)+1, kind)
	v.host = host
	dir := filepath.Join(v.dir, name)
	if err := v.ready(p, dir, host.Groups, longer); err != nil {
		return nil, nil, err
	}
	p.Record.Command = v.command()
	show := v.progress(p, v.progressFlags)
	show.start(p, dir)
	st := record.AdviceStage{Kind: kind, Workload: load, Dir: name, Seed: p.Record.Seed}
	result, effects, err := v.measureInto(&st, run.Config{Plan: p, Dir: dir, Groups: host.Groups}, show)
	if err == nil {
		v.advice.Stages = append(v.advice.Stages, st)
	}
	return result, effects, err
}

// measureInto runs a stage and analyses its result.
func (v *adviser) measureInto(st *record.AdviceStage, c run.Config, show progress) (*record.Result, *record.Effects, error) {
	v.cluster().Told(func(m messages.Message) { show.say(v.in.Say(m)) })
	began := time.Now()
	c.Warnings, c.Progress, c.Manifest = v.cluster().Warnings, show.event, manifest(v.host, began)
	out, err := measure(c, show, v.in)
	st.Seconds += time.Since(began).Seconds()
	v.advice.Seconds += time.Since(began).Seconds()
	v.made = v.made || out.Reason != ""
	if err = notRestored(v.console, out, err); err != nil {
		return nil, nil, err
	}
	if !finished(out) {
		return nil, nil, fmt.Errorf("stage %s ended early: %s", st.Dir, out.Reason)
	}
	result, effects, err := analyse(c.Dir)
	if err == nil {
		noteIn(st, effects)
		err = v.console.writeEffects(result, effects)
	}
	v.over = max(v.over, time.Since(began)-c.Plan.Expected())
	return result, effects, err
}

// trial plans an experiment for one load with these arms, the baseline first.
func (v *adviser) trial(load string, budget time.Duration, precision float64, host facts.Host, arms ...experiment.ArmSpec) (*plan.Plan, error) {
	e := v.e.Only(load, arms...)
	e.Budget, e.Precision = max(budget.Round(time.Second), time.Second), precision
	return plan.Build(e, catalog.Plan(v.cluster()), host, nil)
}

// write writes the advice so far into its directory, if a stage has made that.
func (v *adviser) write() error {
	if !v.made {
		return nil
	}
	return record.WriteJSON(v.dir, record.AdviceFile, &v.advice)
}
