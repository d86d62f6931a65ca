package plan

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/host/volume"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/record"
)

// Build makes the plan of an experiment. It skips arms that the host does not support and lists them in
// Plan.Left with the reason. A baseline that the host does not support is an error.
func Build(e *experiment.Experiment, c Catalog, host facts.Host, command []string) (*Plan, error) {
	p := &Plan{
		Scratch: e.Scratch, AllowUnequal: e.Unequal == experiment.Mark, Generations: e.Generations,
		Window: e.Window, Discard: e.Discard, PodNode: host.PodNode,
		Record: record.Plan{
			Schema: record.PlanSchema, Experiment: e.Name, Title: e.Title, Source: string(e.YAML()),
			Command: command, Seed: e.Seed, Budget: e.Budget.Seconds(),
			Precision: e.Precision, Margin: e.Margin, Limits: e.Limits,
		},
	}
	if p.Record.Seed == 0 {
		p.Record.Seed = rand.Uint64()>>11 | 1 // exact as a JSON number
	}
	if len(e.Workloads) == 0 {
		return nil, hint.New(fmt.Errorf("experiment %s has no workload", e.Name), "add one under workloads:")
	}
	for _, w := range e.Workloads {
		l, left, err := buildLoad(e, w, c, host)
		if err != nil {
			return nil, err
		}
		l.UntilDecided = e.UntilDecided
		l.Share = w.Share * float64(len(l.Arms))
		chosen := len(w.Arms)+len(e.Arms) > 0 || e.UntilDecided || len(e.Limits) > 0 // by the user, so that all arms are measured
		l.LayersOnLoss = !chosen && l.Workload.Question != "" && p.FirstPass(&l) != nil
		p.Loads = append(p.Loads, l)
		p.Left = append(p.Left, left...)
	}
	p.divideBudget()
	if err := p.Record.Check(); err != nil {
		return nil, hint.New(&BoundsError{fmt.Errorf("experiment %s: %w", e.Name, err)}, "name fewer arms or workloads: --arms, --workload")
	}
	return p, nil
}

// LeaveOut removes a workload from the plan, lists it in Plan.Left, and gives its time to the others.
func (p *Plan) LeaveOut(load string, reason, remedy record.Said) {
	p.Loads = slices.DeleteFunc(p.Loads, func(l Load) bool { return l.Name == load })
	p.Left = slices.DeleteFunc(p.Left, func(l record.Left) bool { return l.Workload == load })
	p.Left = append(p.Left, record.Left{Workload: load, Reason: reason, Remedy: remedy})
	p.divideBudget()
}

// divideBudget divides the budget of the run among the loads by their shares.
func (p *Plan) divideBudget() {
	p.Record.Workloads = nil
	shares := 0.0
	for _, l := range p.Loads {
		shares += l.Share
	}
	for i := range p.Loads {
		p.Loads[i].Budget = p.Record.Budget * p.Loads[i].Share / shares
		p.Record.Workloads = append(p.Record.Workloads, p.Loads[i].Workload)
	}
}

// BoundsError means that an experiment has more arms or workloads than a result may have.
type BoundsError struct{ error }

func (b *BoundsError) Unwrap() error { return b.error }

// ArmError means that an arm of the experiment is wrong on any host.
type ArmError struct{ error }

func (a *ArmError) Unwrap() error { return a.error }

// ParamsError means that parameters of a workload are wrong or not compatible.
type ParamsError struct {
	Workload string
	Err      error
}

func (p *ParamsError) Error() string {
	text := strings.TrimPrefix(p.Err.Error(), p.Workload+": ") // a workload is often called like its kind
	return "workload " + p.Workload + ": " + text
}

func (p *ParamsError) Unwrap() error { return p.Err }

// buildLoad makes one workload with its arms: named arms if the experiment has some for it, else arms of
// the ladder.
func buildLoad(e *experiment.Experiment, w experiment.Workload, c Catalog, host facts.Host) (Load, []record.Left, error) {
	kind, ok := c.Workload(w.Kind)
	if !ok {
		return Load{}, nil, fmt.Errorf("workload %s: no kind %q", w.Name, w.Kind)
	}
	values, err := workload.Complete(kind, w.Params)
	if err != nil {
		return Load{}, nil, &ParamsError{w.Name, err}
	}
	stages, err := kind.Stages(values)
	if err != nil {
		return Load{}, nil, &ParamsError{w.Name, err}
	}
	wanted := w.Arms
	if len(wanted) == 0 {
		wanted = e.Arms
	}
	var arms []PlannedArm
	var left []record.Left
	named := len(e.ArmsOf(&w)) > 0
	if named {
		arms, left, err = builder{e, w, kind, c, host}.arms()
	} else {
		var on volume.Volume
		if on, err = loadVolume(e, w, host); err != nil {
			return Load{}, nil, err
		}
		rungs, onErr := onVolume(c.Rungs, e.Volume)
		if onErr != nil {
			return Load{}, nil, onErr
		}
		arms, left, err = ladderArms(w, wanted, rungs, stages, host)
		for i := range arms {
			arms[i].Stages, arms[i].Volume = stages, on
		}
	}
	if err != nil && !errors.Is(err, facts.ErrUnsupported) {
		return Load{}, nil, &ArmError{err}
	}
	if err != nil {
		return Load{}, nil, err
	}
	l := Load{Stages: arms[0].Stages, Arms: arms, Workload: recordOf(w, kind, values, arms)}
	var judgedFirst bool
	if l.Subject, judgedFirst = subjectOf(arms, wanted); judgedFirst && !named {
		l.Workload.Question = l.Subject
	}
	return l, left, nil
}

// loadVolume returns the volume of all arms of a workload without named arms.
func loadVolume(e *experiment.Experiment, w experiment.Workload, host facts.Host) (volume.Volume, error) {
	on, err := volumeOf(e.Volume, host)
	if err == nil {
		return on, nil
	}
	remedy := hint.Of(err)
	if not := (impossible{}); errors.As(err, &not) {
		remedy = said.English(not.Remedy)
	}
	return on, hint.New(fmt.Errorf("workload %s: volume %s: %w", w.Name, e.Volume, err), remedy)
}

// recordOf returns the workload as plan.json has it.
func recordOf(w experiment.Workload, kind workload.Workload, values workload.Values, arms []PlannedArm) record.Workload {
	stages := arms[0].Stages
	out := record.Workload{
		Name: w.Name, Kind: w.Kind, Title: kind.Title(), Params: values, Primary: stages.Metrics[0].Name, Baseline: arms[0].Name,
		Neighbours: neighboursOf(arms),
	}
	if o := w.Objective; o.Metric != "" {
		out.Objective = &record.Objective{Metric: o.Metric, Most: o.Most.Seconds()}
	}
	for _, m := range stages.Metrics {
		out.Metrics = append(out.Metrics, m.Name)
	}
	for _, m := range stages.Values {
		out.Values = append(out.Values, record.Metric{Name: m.Name, Unit: m.Unit, Better: m.Better, Help: m.Help})
	}
	for _, a := range arms {
		out.Arms = append(out.Arms, a.Arm)
	}
	return out
}
