package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/wire/metric"
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

// worthwhile refuses a run whose arms were all left out but the baseline and its twin: it could
// compare nothing. Where none was left out the user chose the baseline alone, to see the noise.
func worthwhile(p *plan.Plan) error {
	for _, l := range p.Loads {
		for _, a := range l.Arms {
			if a.Name != l.Baseline && !a.Twin {
				return nil
			}
		}
	}
	left := leftOut(p)
	if len(left) == 0 {
		return nil
	}
	var reasons []string
	for _, l := range p.Left {
		if !slices.Contains(reasons, l.Reason) {
			reasons = append(reasons, l.Reason)
		}
	}
	err := fmt.Errorf("nothing is left to compare with %s (%w): %s: %s",
		p.Loads[0].Baseline, facts.ErrUnsupported, strings.Join(left, ", "), strings.Join(reasons, "; "))
	if remedy := p.Left[0].Remedy; len(reasons) == 1 && remedy != "" {
		return hint.New(err, remedy)
	}
	return hint.New(err, "tare plan says what helps against each")
}

// verdictBudget says which budget allows verdicts, and whether that of the plan does.
func verdictBudget(p *plan.Plan) string {
	least, ok := p.Deciding()
	switch {
	case !ok:
		return fmt.Sprintf("the experiment fixes generations: %d; verdicts need %d", p.Generations, metric.LeastLaunches)
	case p.Expected() < least:
		return fmt.Sprintf("too short for verdicts: these need %d launches of each arm, about %s; fewer arms (--arms) need less",
			metric.LeastLaunches, quantity.Duration(least.Seconds()))
	}
	return fmt.Sprintf("verdicts need %d launches of each arm: a budget of about %s", metric.LeastLaunches, quantity.Duration(least.Seconds()))
}

// shortOfVerdicts is what verdictBudget says where the plan compares arms and allows no verdict; else empty.
func shortOfVerdicts(p *plan.Plan) string {
	compares := slices.ContainsFunc(p.Loads, func(l plan.Load) bool {
		return slices.ContainsFunc(l.Arms, func(a plan.PlannedArm) bool { return a.Name != l.Baseline && !a.Twin })
	})
	if least, ok := p.Deciding(); !compares || ok && p.Expected() >= least {
		return ""
	}
	return verdictBudget(p)
}

// fewer is the hint about a run that is too short.
const fewer = "a longer --budget, or fewer: --workload NAME, --arms NAME"

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
