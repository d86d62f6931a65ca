// Package plan turns an experiment and a seed into arms, generations, blocks
// and windows, and the pilot's observations into the lengths of them. It is
// pure: it never touches the machine, and what it knows of it was handed in.
package plan

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/host/isolation"
	"github.com/tarelab/tare/internal/host/volume"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/record"
)

// Rung is one environment with its place on the ladder.
type Rung struct {
	environment.Environment
	// On is the name of the rung below; empty for the baseline. When that one
	// is left out, the next lower one that is there takes its place.
	On string
	// Net says that the rung matters only to a load with a server.
	Net bool
	// Beside says that the arm stands beside the ladder: nothing rests on it.
	Beside bool
	// Remainder says that the step to this rung is the remainder.
	Remainder bool
	// Grouped says that an arm on this rung has control groups with controllers
	// of its own.
	Grouped bool
	// Container says that it makes containers, whose network, filter and
	// capabilities can be chosen.
	Container bool
	// Images says that it can take its root from an image.
	Images bool
	// Archive says that it needs an image, which is the file of one.
	Archive bool
	// Pod says that it is a pod: a neighbour can be in one too.
	Pod bool
	// Asked says that an experiment has the arm only when it names it.
	Asked bool
}

// Catalog is what there is to choose from.
type Catalog struct {
	Workload func(kind string) (workload.Workload, bool)
	// Neighbour finds what neighbours are made of; nil: there are none.
	Neighbour func(kind string) (workload.Workload, bool)
	// Beside is where a neighbour runs that names no environment.
	Beside environment.Environment
	Rungs  []Rung
}

// Plan is everything that is known before a run.
type Plan struct {
	Record record.Plan
	Loads  []Load
	Left   []record.Left
	// Scratch, Generations, Window and Discard are as in the experiment.
	Scratch string
	// AllowUnequal compares arms that are not equal in what they keep, and marks
	// them.
	AllowUnequal    bool
	Generations     int
	Window, Discard time.Duration
	// PodNode is the node of the arms, all of them pods, where that is not this host.
	PodNode string
}

// Load is one workload, ready to be run under its arms.
type Load struct {
	record.Workload
	Stages workload.Stages // of the baseline
	Arms   []Arm           // the baseline first, then its twin
}

// Arm is an arm with the environment that it runs in.
type Arm struct {
	record.Arm
	Env environment.Environment
	// Stages are the workload's, under this arm's own parameters.
	Stages workload.Stages
	// Volume is what is under the data directory.
	Volume volume.Volume
	// Container is what was chosen of its container.
	Container environment.Container
	// Limits are what was chosen for its group.
	Limits cgroup.Limits
	// Neighbour runs beside it; nil: none. Isolation protects from it.
	Neighbour *Neighbour
	Isolation []isolation.Settings

	grouped bool // the environment has groups with controllers
}

// Neighbour is a workload in a role, ready to be run beside an arm.
type Neighbour struct {
	record.Neighbour
	Stages workload.Stages
	// Env is where it runs; nil: on the host, in a group beside the arm's.
	Env environment.Environment
}

// TwinName is the name of the twin of the baseline.
const TwinName = "twin"

// Build makes the plan. Arms that the host cannot have are left out by name;
// a baseline that it cannot have is an error.
func Build(e *experiment.Experiment, c Catalog, host facts.Host, command []string) (*Plan, error) {
	p := &Plan{
		Scratch: e.Scratch, AllowUnequal: e.Unequal == experiment.Mark, Generations: e.Generations,
		Window: e.Window, Discard: e.Discard, PodNode: host.PodNode,
		Record: record.Plan{
			Schema: record.PlanSchema, Experiment: e.Name, Source: string(e.YAML()),
			Command: command, Seed: e.Seed, Budget: e.Budget.Seconds(),
			Precision: e.Precision, Margin: e.Margin,
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
		l.Budget = w.Share * float64(len(l.Arms))
		p.Loads = append(p.Loads, l)
		p.Left = append(p.Left, left...)
	}
	p.divide()
	if err := p.Record.Check(); err != nil {
		return nil, hint.New(&BoundsError{fmt.Errorf("experiment %s: %w", e.Name, err)}, "name fewer arms or workloads: --arms, --workload")
	}
	return p, nil
}

// LeaveOut takes a workload out of the plan, with the reason, and gives its time to the others.
func (p *Plan) LeaveOut(load, reason, remedy string) {
	p.Loads = slices.DeleteFunc(p.Loads, func(l Load) bool { return l.Name == load })
	p.Left = slices.DeleteFunc(p.Left, func(l record.Left) bool { return l.Workload == load })
	p.Left = append(p.Left, record.Left{Workload: load, Reason: reason, Remedy: remedy})
	p.divide()
}

// divide gives every load its part of the budget: by its share, and by its arms,
// each of which takes the same time in a block. Dividing again keeps the proportions.
func (p *Plan) divide() {
	p.Record.Workloads = nil
	shares := 0.0
	for _, l := range p.Loads {
		shares += l.Budget
	}
	for i := range p.Loads {
		p.Loads[i].Budget *= p.Record.Budget / shares
		p.Record.Workloads = append(p.Record.Workloads, p.Loads[i].Workload)
	}
}

// BoundsError means that an experiment asks for more than a result may have.
type BoundsError struct{ error }

func (b *BoundsError) Unwrap() error { return b.error }

// ParamsError means that the parameters of a workload do not go together.
type ParamsError struct {
	Workload string
	Err      error
}

func (p *ParamsError) Error() string {
	text := strings.TrimPrefix(p.Err.Error(), p.Workload+": ") // a workload is often called what its kind is
	return "workload " + p.Workload + ": " + text
}

func (p *ParamsError) Unwrap() error { return p.Err }

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
	var arms []Arm
	var left []record.Left
	if len(e.ArmsOf(&w)) > 0 {
		arms, left, err = builder{e, w, kind, c, host}.arms()
	} else {
		var on volume.Volume
		if on, err = volumeOf(e.Volume, host); err != nil {
			remedy := hint.Of(err)
			if not := (impossible{}); errors.As(err, &not) {
				remedy = not.Remedy
			}
			return Load{}, nil, hint.New(fmt.Errorf("workload %s: volume %s: %w", w.Name, e.Volume, err), remedy)
		}
		arms, left, err = chooseArms(w, wanted, c.Rungs, stages, host)
		for i := range arms {
			arms[i].Stages, arms[i].Volume = stages, on
		}
	}
	if err != nil {
		return Load{}, nil, err
	}
	stages = arms[0].Stages
	l := Load{Stages: stages, Arms: arms, Workload: record.Workload{
		Name: w.Name, Kind: w.Kind, Title: kind.Title(), Params: values, Primary: stages.Metrics[0].Name, Baseline: arms[0].Name,
		Neighbours: neighboursOf(arms),
	}}
	for _, m := range stages.Metrics {
		l.Metrics = append(l.Metrics, m.Name)
	}
	for _, m := range stages.Values {
		l.Values = append(l.Values, record.Metric{Name: m.Name, Unit: m.Unit, Better: m.Better, Help: m.Help})
	}
	for _, a := range arms {
		l.Workload.Arms = append(l.Workload.Arms, a.Arm)
	}
	if len(e.ArmsOf(&w)) == 0 {
		l.Workload.Question = l.question(wanted)
	}
	return l, left, nil
}

// chooseArms picks the baseline, its twin and every wanted rung that the host
// can have, in the ladder's order.
func chooseArms(w experiment.Workload, wanted []string, rungs []Rung, s workload.Stages, host facts.Host) ([]Arm, []record.Left, error) {
	baseline := w.Baseline
	if baseline == "" {
		baseline = rungs[0].Name()
	}
	want := func(r Rung) bool {
		if len(wanted) == 0 {
			return !r.Asked
		}
		return slices.Contains(wanted, r.Name())
	}
	if host.PodNode != "" {
		pod := func(r Rung) bool { return r.Pod && want(r) }
		possible := func(r Rung) bool { return pod(r) && r.Support(host).Answer == facts.Yes }
		first := slices.IndexFunc(rungs, possible)
		if first < 0 {
			first = slices.IndexFunc(rungs, pod) // which says why there is none
		}
		if first >= 0 {
			baseline = rungs[first].Name()
		}
	}
	var arms []Arm
	var left []record.Left
	have := map[string]bool{}
	for _, r := range rungs {
		if r.Name() != baseline && (!want(r) || r.Net && s.Server == nil) {
			continue
		}
		sup := support(r, host)
		if sup.Answer == facts.Yes {
			sup = suits(r, environment.Container{}, s)
		}
		if sup.Answer != facts.Yes {
			if r.Name() == baseline {
				return nil, nil, hint.New(fmt.Errorf("workload %s: the baseline %s is not possible here: %w", w.Name, baseline, impossible{sup}), sup.Remedy)
			}
			left = append(left, record.Left{Workload: w.Name, Arm: r.Name(), Reason: sup.Reason, Remedy: sup.Remedy})
			continue
		}
		have[r.Name()] = true
		arm := Arm{Env: r.Environment, Arm: record.Arm{
			Name: r.Name(), Environment: r.Name(), Title: r.Title(), Remainder: r.Remainder, Pod: r.Pod,
		}}
		if !r.Beside && r.Name() != baseline {
			arm.Step = below(r, rungs, have)
		}
		if r.Name() == baseline {
			arm.Remainder = false
			arms = append([]Arm{arm, twin(arm)}, arms...)
			continue
		}
		arms = append(arms, arm)
	}
	if len(arms) == 0 {
		return nil, nil, fmt.Errorf("workload %s: no environment is called %q", w.Name, baseline)
	}
	return arms, left, nil
}

// support says whether there can be an arm on a rung. Where the pods are on a node
// that this host is not, nothing on this host can be compared with them.
func support(r Rung, host facts.Host) facts.Support {
	if host.PodNode != "" && !r.Pod {
		return needsNode(r.Name(), host)
	}
	return r.Support(host)
}

func needsNode(what string, host facts.Host) facts.Support {
	return facts.Unsupported(what+" needs tare on node "+host.PodNode+", where the pods are",
		"--nodes "+host.PodNode+" --node-helper, or run tare there")
}

func twin(base Arm) Arm {
	t := base
	t.Name, t.Twin, t.Step = TwinName, true, ""
	t.Title = base.Name + " again: the noise floor"
	return t
}

// below is the nearest rung under r that there is; empty when none.
func below(r Rung, rungs []Rung, have map[string]bool) string {
	for name := r.On; name != ""; {
		if have[name] {
			return name
		}
		next := ""
		for _, other := range rungs {
			if other.Name() == name {
				next = other.On
			}
		}
		name = next
	}
	return ""
}

// Order is the random order in which a block visits n arms: the same for the
// same seed, workload, generation and block, whatever else happens.
func Order(seed uint64, load string, generation, block, n int) []int {
	return stream(seed, load, generation, block).Perm(n)
}

// ArrivalSeed seeds the arrivals of an open-loop load: the same in all arms of
// a block.
func ArrivalSeed(seed uint64, load string, generation, block int) uint64 {
	return stream(seed, load+"/arrivals", generation, block).Uint64()
}

func stream(seed uint64, load string, generation, block int) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s/%d/%d", load, generation, block)
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// Expected is how long the run is going to take at most: the budget, and what
// preparing and launching adds before the first window counts.
func (p *Plan) Expected() time.Duration {
	return time.Duration(p.Record.Budget * float64(time.Second))
}
