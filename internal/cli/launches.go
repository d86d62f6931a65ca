package cli

import (
	"math"
	"strconv"

	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/wire/metric"
)

// Sentences about the launches, the precision and the p99 for which a budget has room.

// verdictBudget says which budget allows verdicts, and whether that of the plan does.
func verdictBudget(p *plan.Plan, in messages.Catalog) string {
	if short := tooShort(p, in); short != "" {
		return short
	}
	if unknown := unknownLoads(p, in); len(unknown) > 0 {
		return unknownLaunches(unknown, in)
	}
	least, _ := p.Deciding()
	return in.Text("launches.known", "least", metric.LeastLaunches, "time", quantity.AboutIn(in, least.Seconds()))
}

func unknownLaunches(loads []string, in messages.Catalog) string {
	return in.Text("launches.unknown", "least", metric.LeastLaunches, "loads", loads)
}

// tooShort says that the plan has too few launches for verdicts; "": it may have enough.
func tooShort(p *plan.Plan, in messages.Catalog) string {
	least, ok := p.Deciding()
	switch {
	case !ok:
		return in.Text("launches.fixed", "n", p.Generations, "least", metric.LeastLaunches)
	case p.Expected() >= least:
		return ""
	case len(unknownLoads(p, in)) > 0:
		return in.Text("launches.short.any", "least", metric.LeastLaunches, "time", quantity.AboutIn(in, least.Seconds()))
	}
	return in.Text("launches.short", "n", p.Launches(), "least", metric.LeastLaunches, "flag", experiment.BudgetFlag(least.Seconds()))
}

// unknownLoads are the loads of which no run is known.
func unknownLoads(p *plan.Plan, in messages.Catalog) (names []string) {
	for i := range p.Loads {
		l := &p.Loads[i]
		switch {
		case l.Known != nil:
		case l.Stages.Data >= 1<<30:
			names = append(names, in.Text("launches.data", "load", l.Name, "size", quantity.Bytes(float64(l.Stages.Data))))
		default:
			names = append(names, l.Name)
		}
	}
	return names
}

// ofTail is how many operations a window of a load has and how many it needs for a p99, and the budget that would do.
func ofTail(t plan.Tail) string {
	text := t.Load + " " + quantity.Trimmed(quantity.Short(t.PerWindow)) + "/" + strconv.FormatFloat(math.Ceil(t.Needed), 'f', 0, 64)
	if t.PerWindow < t.Needed && t.Budget < 48*3600 {
		text += " (" + experiment.BudgetFlag(t.Budget) + ")"
	}
	return text
}

// tailsLine says which loads have a p99 in this budget.
func tailsLine(all []plan.Tail, in messages.Catalog) string {
	var known, unknown []string
	for _, t := range all {
		if t.Operations > 0 {
			known = append(known, ofTail(t))
		} else {
			unknown = append(unknown, t.Load)
		}
	}
	parts := []string{in.Text("p99.needs", "n", plan.TailOperations)}
	if len(known) > 0 {
		parts = append(parts, in.Text("p99.has", "list", known))
	}
	if len(unknown) > 0 {
		parts = append(parts, in.Text("p99.unknown", "loads", unknown))
	}
	return in.JoinAll("join.semicolon", parts...)
}
