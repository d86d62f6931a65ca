package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/arms/pods"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/record"
)

// leftOut are the arms, and the whole workloads, that this host cannot have, each once.
func leftOut(p *plan.Plan) (names []string) {
	for _, l := range p.Left {
		if name := cmp.Or(l.Arm, l.Workload); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// compares says whether a load has an arm besides the baseline and its twin.
func compares(l plan.Load) bool {
	return slices.ContainsFunc(l.Arms, func(a plan.PlannedArm) bool { return a.Name != l.Baseline && !a.Twin })
}

// lonely are the loads whose arms were all left out but the baseline and its twin, so that there is nothing to
// compare. A load that is judged by an objective needs no comparison.
func lonely(p *plan.Plan) (names []string) {
	for _, l := range p.Loads {
		lost := slices.ContainsFunc(p.Left, func(x record.Left) bool { return x.Workload == l.Name && x.Arm != "" })
		if lost && !compares(l) && l.Objective == nil {
			names = append(names, l.Name)
		}
	}
	return names
}

// leaveOutLonely leaves out loads whose baseline would be alone, if there are other loads.
func leaveOutLonely(p *plan.Plan) {
	names := lonely(p)
	if len(names) == len(p.Loads) {
		return
	}
	for _, name := range names {
		i := slices.IndexFunc(p.Left, func(x record.Left) bool { return x.Workload == name })
		p.LeaveOut(name, record.Say("of_arm", "arm", p.Left[i].Arm, "why", p.Left[i].Reason), p.Left[i].Remedy)
	}
}

// worthwhile refuses a run of loads whose baselines are alone.
func worthwhile(p *plan.Plan) error {
	if len(lonely(p)) < len(p.Loads) {
		return nil
	}
	left := leftOut(p)
	var reasons []string
	for _, l := range p.Left {
		if why := said.English(l.Reason); !slices.Contains(reasons, why) {
			reasons = append(reasons, why)
		}
	}
	err := fmt.Errorf("nothing is left to compare with %s (%w): %s: %s",
		p.Loads[0].Baseline, facts.ErrUnsupported, strings.Join(left, ", "), strings.Join(reasons, "; "))
	return hint.New(err, remediesOf(p.Left))
}

// remediesOf are the remedies against the reasons why arms were left out; an only one is without its arm.
func remediesOf(all []record.Left) string {
	var remedies, named []string
	for _, l := range all {
		if remedy := said.English(l.Remedy); remedy != "" && !slices.Contains(remedies, remedy) {
			remedies, named = append(remedies, remedy), append(named, cmp.Or(l.Arm, l.Workload)+": "+remedy)
		}
	}
	if len(remedies) == 1 {
		return remedies[0]
	}
	return strings.Join(named, "; ")
}

// launchNotice is what a run that compares arms says before it begins about the launches that it has room for; "": enough.
func launchNotice(p *plan.Plan, in messages.Catalog) string {
	switch unknown := unknownLoads(p, in); {
	case !slices.ContainsFunc(p.Loads, compares):
		return ""
	case len(unknown) > 0 && tooShort(p, in) == "":
		return unknownLaunches(unknown, in)
	}
	return tooShort(p, in)
}

// fewer is the hint about a run that is too short.
const fewer = "a longer --budget, or fewer: --workload NAME, --arms NAME"

// podsFit returns an error if a cluster has no room for the pods of a workload, which all run at once.
func podsFit(p *plan.Plan, on *pods.Target) error {
	for _, l := range p.Loads {
		var instances []pods.Tenant
		for _, s := range plan.Instances(l.Arms) {
			instances = append(instances, pods.Tenant{Arm: s.Arms[0].Name, Env: s.Arms[0].Env, Server: s.Arms[0].Stages.Server != nil})
			if s.Neighbour != nil {
				instances = append(instances, pods.Tenant{Arm: plan.NeighbourArm(s.Arms[0].Name), Env: s.Neighbour.Env})
			}
		}
		if err := on.Together(instances); err != nil {
			return hint.New(notHere(fmt.Sprintf("workload %s: %v", l.Name, err)), hint.Of(err))
		}
	}
	return nil
}

// longEnough refuses a budget that is too short for one block of each workload.
func longEnough(p *plan.Plan, remedy string) error {
	least := p.Least()
	if p.Expected() >= least {
		return nil
	}
	err := fmt.Errorf("budget %s is too short for %d arm launches in %s: want at least %s",
		quantity.Duration(p.Record.Budget), p.Arms(), quantity.Count(len(p.Loads), "workload"), quantity.Duration(least.Seconds()))
	return &usageError{hint.New(err, remedy), ""}
}
