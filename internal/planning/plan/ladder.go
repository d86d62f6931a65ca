package plan

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/record"
)

// Rung is an environment and its place on the ladder. The environment's Capabilities say what an
// experiment can choose of it.
type Rung struct {
	environment.Environment
	// On is the name of the rung below. If that rung is left out, the next lower one that is
	// there takes its place. Empty: the baseline, or an arm beside the ladder.
	On string
	// NeedsServer says that only a load with a server gets the rung: it adds a network.
	NeedsServer bool
	// Remainder says that the step to this rung is the remainder: the real container against
	// the highest layer that tare makes itself.
	Remainder bool
	// OnlyByName says that an experiment has the arm only if it names it.
	OnlyByName bool
}

// ladderArms returns the baseline, its twin and every wanted rung that the host can have, in the
// order of the ladder; without wanted names, every rung but those that are OnlyByName. It says of
// each other wanted rung why the host cannot have it.
func ladderArms(w experiment.Workload, wanted []string, rungs []Rung, s workload.Stages, host facts.Host) ([]PlannedArm, []record.Left, error) {
	isWanted := func(r Rung) bool {
		if len(wanted) == 0 {
			return !r.OnlyByName
		}
		return slices.Contains(wanted, r.Name())
	}
	baseline := chooseBaseline(cmp.Or(w.Baseline, rungs[0].Name()), candidates(rungs, isWanted), host)
	var arms []PlannedArm
	var left []record.Left
	have := map[string]bool{}
	for _, r := range rungs {
		isBaseline := r.Name() == baseline
		if !isBaseline && (!isWanted(r) || r.NeedsServer && s.Server == nil) {
			continue
		}
		can := rungSupport(r, host)
		if can.Answer == facts.Yes {
			can = containerSupport(r, environment.Container{}, s)
		}
		switch {
		case can.Answer != facts.Yes && isBaseline:
			return nil, nil, noBaseline(w.Name, baseline, impossible{can})
		case can.Answer != facts.Yes:
			left = append(left, record.Left{Workload: w.Name, Arm: r.Name(), Reason: can.Reason, Remedy: can.Remedy})
			continue
		}
		if r.Capabilities().Archive {
			err := hint.New(needsImage(r), "in an experiment file: "+r.Name()+": {environment: "+r.Name()+", image: FILE} below arms:, with an archive that docker save wrote")
			return nil, nil, fmt.Errorf("workload %s: arm %s: %w", w.Name, r.Name(), err)
		}
		have[r.Name()] = true
		arm := PlannedArm{Env: r.Environment, Arm: record.Arm{
			Name: r.Name(), Environment: r.Name(), Title: r.Title(), Pod: r.Capabilities().Pod, RunsAs: runsAs(r, host),
		}}
		if isBaseline {
			arms = append([]PlannedArm{arm, twin(arm)}, arms...)
			continue
		}
		arm.Remainder, arm.Step = r.Remainder, below(r, rungs, have)
		arms = append(arms, arm)
	}
	if len(arms) == 0 {
		return nil, nil, fmt.Errorf("workload %s: no environment is called %q", w.Name, baseline)
	}
	return arms, left, nil
}

// runsAs is record.Arm.RunsAs of an arm on a rung.
func runsAs(r Rung, host facts.Host) string {
	if as := r.Capabilities().RunsAs; as != nil {
		return as(host.Groups)
	}
	return ""
}

func candidates(rungs []Rung, isWanted func(Rung) bool) (all []baselineCandidate) {
	for _, r := range rungs {
		if isWanted(r) {
			all = append(all, baselineCandidate{arm: r.Name(), rung: r})
		}
	}
	return all
}

// baselineCandidate is an arm without a neighbour that the others could be compared with.
type baselineCandidate struct {
	arm  string
	rung Rung
}

// chooseBaseline returns the name of the arm that the others are compared with: the one that was
// asked for, unless the pods are on another node and that arm would be on this host. The first
// pod that the host can have takes its place then; without such a pod the first pod, whose
// Support says why it cannot be had.
func chooseBaseline(asked string, all []baselineCandidate, host facts.Host) string {
	if host.PodNode == "" {
		return asked
	}
	pods := slices.DeleteFunc(all, func(c baselineCandidate) bool { return !c.rung.Capabilities().Pod })
	possible := func(c baselineCandidate) bool { return c.rung.Support(host).Answer == facts.Yes }
	switch i := slices.IndexFunc(pods, possible); {
	case len(pods) == 0 || slices.ContainsFunc(pods, func(c baselineCandidate) bool { return c.arm == asked }):
		return asked
	case i >= 0:
		return pods[i].arm
	}
	return pods[0].arm
}

// noBaseline is the error of a workload whose baseline the host cannot have.
func noBaseline(workload, baseline string, why impossible) error {
	return hint.New(fmt.Errorf("workload %s: the baseline %s is not possible here: %w", workload, baseline, why), said.English(why.Remedy))
}

// rungSupport says whether the host can have an arm on a rung. Where the pods are on another
// node, nothing on this host can be compared with them.
func rungSupport(r Rung, host facts.Host) facts.Support {
	if host.PodNode != "" && !r.Capabilities().Pod {
		return needsNode(r.Name(), host)
	}
	return r.Support(host)
}

// needsNode is the answer about an arm or a neighbour of this host; what is a name or a Said.
func needsNode(what any, host facts.Host) facts.Support {
	return facts.Unsupported(record.Say("needs_pod_node", "what", what, "node", host.PodNode), record.Say("to_pod_node", "node", host.PodNode))
}

// TwinName is the name of the twin of the baseline.
const TwinName = "twin"

// twin returns the baseline once more, under another name: the difference of the two is noise.
func twin(base PlannedArm) PlannedArm {
	t := base
	t.Name, t.Twin, t.Step, t.Against = TwinName, true, "", ""
	t.Title = twinTitle(base.Name)
	return t
}

// below returns the nearest rung under r that is there; empty: none.
func below(r Rung, rungs []Rung, have map[string]bool) string {
	name := r.On
	for name != "" && !have[name] {
		i := slices.IndexFunc(rungs, func(other Rung) bool { return other.Name() == name })
		if i < 0 {
			return ""
		}
		name = rungs[i].On
	}
	return name
}
