package cli

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/analysis"
	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/report"
	"github.com/tarelab/tare/record"
)

// row prints a label and a text in columns.
func (p *sheet) row(label, text string) { p.entry("  "+report.PadRight(label, 9)+"  ", 13, text) }

// shortPlan prints what a run does and changes, in about ten lines.
func (p *sheet) shortPlan(built *plan.Plan, title string) {
	r := built.Record
	p.heading(p.text("plan.run", "name", r.Experiment, "title", p.c.in.Static(title)))
	p.row(p.text("plan.row.time"), p.text("plan.time", "time", quantity.Duration(built.Expected().Seconds()), "verdicts", verdictBudget(built, p.c.in)))
	if tails := built.Tails(); len(tails) > 0 {
		p.row(p.text("plan.row.p99"), tailsLine(tails, p.c.in))
	}
	var loads []string
	var arms, beside arrange.Ordered
	for _, l := range built.Loads {
		loads = append(loads, l.Name)
		for _, a := range l.Arms {
			name := a.Name
			if a.Name == l.Baseline {
				name = p.text("plan.baseline", "arm", name)
			}
			arms.Add(name)
		}
		for _, n := range l.Neighbours {
			beside.Add(p.text("plan.neighbour", "name", n.Name, "kind", n.Kind, "memory", n.Memory>>20, "pids", n.Pids))
		}
	}
	p.row(p.text("plan.row.loads"), p.names(loads))
	if len(r.Programs) > 0 {
		p.row(p.text("plan.row.programs"), withPaths(r.Programs))
	}
	p.row(p.text("plan.row.arms"), p.names(arms))
	if subjects := asked(built.Loads); len(subjects) > 0 {
		p.row("", p.text("plan.layers", "arms", p.names(subjects)))
	}
	for _, n := range beside {
		p.row(p.text("plan.row.neighbour"), n)
	}
	p.skipped(built.Left)
	for _, line := range analysis.AdoptedLines(r.Adopted) {
		p.row(p.text("plan.row.settings"), said.Text(p.c.in, line))
	}
	for _, line := range codeLines(built, p.c.in) {
		p.row(p.text("plan.row.code"), line)
	}
	for _, line := range sharedLines(built) {
		p.row(p.text("plan.row.volumes"), p.c.said(line))
	}
	all := changes(built)
	p.row(p.text("plan.row.changes"), p.text("plan.undone", "changes", changesInWords(all, p.c.in)))
	if hasTopGroup(all) {
		p.row("", p.text("plan.weight"))
	}
	p.command(p.text("plan.row.run"), r.Command)
	p.command(p.text("plan.row.steps"), planOf(r.Command))
	p.row("", p.text("plan.unchanged"))
}

// planOf is the command that plans what a command runs, in every detail.
func planOf(run []string) []string {
	args := slices.DeleteFunc(slices.Clone(run), func(a string) bool { return strings.HasPrefix(a, "--seed=") })
	return append([]string{args[0], "plan"}, append(args[2:], "-v")...)
}

// command prints a label and a command, quoted and on one line, so that it can be pasted into a shell.
func (p *sheet) command(label string, words []string) {
	p.WriteString("  " + report.PadRight(label, 9) + "  " + hint.Command(words...) + "\n")
}

// skipped prints each reason once, with the arms or loads and the remedy.
func (p *sheet) skipped(left []record.Left) {
	var reasons arrange.Grouped[record.Left]
	for _, l := range left {
		name := cmp.Or(l.Arm, l.Workload)
		l.Arm, l.Workload = "", ""
		reasons.Add(l)
		if !slices.Contains(reasons.Of(l), name) {
			reasons.Add(l, name)
		}
	}
	for why, names := range reasons.All() {
		text := p.text("join.colon", "subject", p.names(names), "what", p.c.said(why.Reason))
		if !why.Remedy.IsZero() {
			text += " → " + p.c.said(why.Remedy)
		}
		p.row(p.text("plan.row.skipped"), text)
	}
}

// asked are the arms that loads ask about first: their layers are measured only where one of these differs enough.
func asked(loads []plan.Load) (arms arrange.Ordered) {
	for _, l := range loads {
		if l.LayersOnLoss {
			arms.Add(l.Workload.Question)
		}
	}
	return arms
}
