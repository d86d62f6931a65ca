package cli

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"time"

	"github.com/tarelab/tare/internal/analysis/cause"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/quantity"
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
	// The first stage has this part of the whole; the others have parts of what is left for their loss.
	// A loss that is undecided gets more, until only partRemedy of the whole is left.
	partLoss       = 0.25
	partRemedy     = 0.3
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
	dir       string // of the advice
	made      bool   // a stage has made dir
	lock      *hostlock.Lock
	host      facts.Host
	end       time.Time // of the whole time
	total     time.Duration
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
	return nil
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
	e.Unprotected()
	e.Budget = time.Duration(partLoss * float64(v.total))
	host, err := inspectHost(e, v.Volume, v.cluster(), "")
	if err != nil {
		return nil, nil, err
	}
	if host.PodNode != "" {
		return nil, nil, &usageError{errors.New(adviceOnNode), "run tare on the node"}
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
	for err == nil && v.undecided(result, effects) && time.Until(v.end) > time.Duration(partRemedy*float64(v.total)) {
		result, effects, err = v.further(result.Dir, p, host)
	}
	return result, effects, err
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

// undecided says whether no load is shown to lose and one is undecided.
func (v *adviser) undecided(r *record.Result, e *record.Effects) bool {
	losses, others := cause.Of(e, r.Plan)
	return len(losses) == 0 && slices.ContainsFunc(others, func(k record.AdviceNoLoss) bool { return k.Answer.Word == record.SaysUndecided })
}

// further adds launches to the last stage, whose result is in dir.
func (v *adviser) further(dir string, p *plan.Plan, host facts.Host) (*record.Result, *record.Effects, error) {
	earlier, err := run.Reopen(dir)
	if err != nil {
		return nil, nil, err
	}
	show := v.progress(p, v.progressFlags)
	show.start(p, dir)
	return v.measureInto(&v.advice.Stages[len(v.advice.Stages)-1], run.Config{Plan: p, Dir: dir, Groups: host.Groups, Earlier: earlier}, show)
}

// stage measures a plan into a directory of its own below that of the advice.
func (v *adviser) stage(kind record.StageKind, load string, p *plan.Plan, host facts.Host) (*record.Result, *record.Effects, error) {
	name := fmt.Sprintf("%d-%s", len(v.advice.Stages)+1, kind)
	v.host = host
	dir := filepath.Join(v.dir, name)
	if err := errors.Join(installed(p), worthwhile(p), longEnough(p, longer), roomy(p, dir, host.Groups)); err != nil {
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
	v.cluster().Told(show.say)
	began := time.Now()
	c.Warnings, c.Progress, c.Manifest = v.cluster().Warnings, show.event, manifest(v.host, began)
	out, err := measure(c, show)
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
		err = v.console.writeEffects(result, effects)
	}
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
