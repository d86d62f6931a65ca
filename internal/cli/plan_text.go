package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tarelab/tare/internal/analysis"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/report"
	"github.com/tarelab/tare/record"
)

// printPlan prints the plan as text. Then it measures this host's noise for two seconds and prints the
// outlook. limit is a limit of this shell that the arms do not have.
func (c *console) printPlan(built *plan.Plan, title string, limit record.Said, details bool) error {
	ctx, stop := untilSignal()
	defer stop()
	s := newSheet(c)
	if details {
		s.plan(built, title)
	} else {
		s.shortPlan(built, title)
	}
	if !limit.IsZero() {
		s.row(s.text("plan.row.limits"), c.said(limit))
	}
	if err := s.flush(); err != nil {
		return err
	}
	o, err := lookAhead(ctx, built, c.in)
	if err != nil || o == nil {
		return err
	}
	if details {
		s.outlook(o)
	} else {
		s.row(s.text("plan.row.precision"), c.in.JoinAll("join.semicolon", o.reach, s.text("outlook.now", "noise", o.noise)))
	}
	return s.flush()
}

// plan prints the whole plan.
func (p *sheet) plan(built *plan.Plan, title string) {
	r := built.Record
	p.heading(p.text("plan.experiment", "name", r.Experiment, "title", p.c.in.Static(title)))
	p.entry("  ", 2, p.text("plan.settings", "budget", quantity.Duration(r.Budget), "precision", percent(r.Precision), "margin", percent(r.Margin), "seed", r.Seed))
	if len(r.Programs) > 0 {
		p.entry("  ", 2, withPaths(r.Programs))
	}
	p.loads(built.Loads)
	p.left(built.Left)
	p.lines("plan.adopted", eachSaid(analysis.AdoptedLines(r.Adopted), p.c.in))
	p.lines("plan.code", codeLines(built, p.c.in))
	p.lines("plan.shared", eachSaid(sharedLines(built), p.c.in))
	p.heading(p.text("plan.changes"))
	all := changes(built)
	p.columns(changeRows(all, p.c.in))
	if hasTopGroup(all) {
		p.entry("  ", 2, p.text("plan.weight"))
	}
	p.heading(p.text("plan.expected", "time", quantity.Duration(built.Expected().Seconds())))
	p.entry("  ", 2, verdictBudget(built, p.c.in))
	if tails := built.Tails(); len(tails) > 0 {
		p.entry("  ", 2, p.text("plan.p99", "tails", tailsLine(tails, p.c.in)))
	}
	p.entry("  ", 2, p.text("plan.nothing"))
	p.WriteString("    " + hint.Command(r.Command...) + "\n")
}

// loads prints each load with its parameters, arms and neighbours.
func (p *sheet) loads(all []plan.Load) {
	printed := map[string]string{} // arms, as text, to the workload that has them
	for _, l := range all {
		p.heading(p.text("plan.load", "name", l.Name, "kind", l.Kind, "time", quantity.Duration(l.Budget)))
		if l.Note != "" {
			p.entry("    ", 4, l.Note)
		}
		p.entry("    ", 4, strings.Join(params(l.Params), " "))
		rows := p.armRows(l)
		arms := fmt.Sprint(rows)
		if first, ok := printed[arms]; ok {
			p.entry("  ", 2, p.text("plan.alike", "load", first))
		} else {
			printed[arms] = l.Name
			p.columns(rows)
		}
		for _, n := range l.Neighbours {
			key := messages.Key("plan.neighbour.load")
			if n.Environment != "" {
				key = "plan.neighbour.pod"
			}
			p.entry("  ", 2, p.text(key, "name", n.Name, "kind", n.Kind, "pod", n.Environment, "memory", n.Memory>>20, "pids", n.Pids))
			p.entry("    ", 4, strings.Join(params(n.Params), " "))
		}
	}
}

// lines prints a heading with lines; nothing without lines.
func (p *sheet) lines(heading messages.Key, lines []string) {
	if len(lines) == 0 {
		return
	}
	p.heading(p.text(heading))
	for _, line := range lines {
		p.entry("  ", 2, line)
	}
}

// armRows has an arm's name, title and role in each row.
func (p *sheet) armRows(l plan.Load) [][3]string {
	var rows [][3]string
	for _, a := range l.Arms {
		rows = append(rows, [3]string{a.Name, p.c.said(a.Title), role(l, a, p.c.in)})
	}
	return rows
}

// left prints arms that this host cannot have, with reason and remedy.
func (p *sheet) left(left []record.Left) {
	if len(left) == 0 {
		return
	}
	p.heading(p.text("plan.skipped"))
	name := func(l record.Left) string { return cmp.Or(l.Arm, l.Workload) }
	names := 0
	for _, l := range left {
		names = max(names, utf8.RuneCountInString(name(l)))
	}
	columns := 2 + names + 2
	for i, l := range left {
		same := func(x record.Left) bool { return name(x) == name(l) && x.Reason == l.Reason }
		if slices.IndexFunc(left, same) < i {
			continue // printed for another workload
		}
		p.entry(fmt.Sprintf("  %-*s  ", names, name(l)), columns, p.c.said(l.Reason))
		if !l.Remedy.IsZero() {
			lead := strings.Repeat(" ", columns) + p.text("join.colon", "subject", p.text("plan.hint"), "what", "")
			p.entry(lead, report.Width(lead), p.c.said(l.Remedy))
		}
	}
}

// columns prints rows of three cells. If the terminal is too narrow for a table, the third
// cell follows the second in rows that fit, and stands below it in others.
func (p *sheet) columns(rows [][3]string) {
	var wide [3]int
	for _, r := range rows {
		for k, cell := range r {
			wide[k] = max(wide[k], report.Width(cell))
		}
	}
	first := 2 + wide[0] + 2
	beside := first+wide[1]+2+wide[2] < p.width || p.piped
	for _, r := range rows {
		lead := fmt.Sprintf("  %-*s  ", wide[0], r[0])
		if beside {
			p.WriteString(strings.TrimRight(formatted("%s%s  %s", lead, report.PadRight(r[1], wide[1]), r[2]), " ") + "\n")
			continue
		}
		if line := strings.TrimRight(formatted("%s%s  %s", lead, r[1], r[2]), " "); report.Width(line) < p.width {
			p.WriteString(line + "\n")
			continue
		}
		p.entry(lead, first, r[1])
		if r[2] != "" {
			p.entry(strings.Repeat(" ", first+2), first+2, r[2])
		}
	}
}
