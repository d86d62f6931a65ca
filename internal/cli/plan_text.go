package cli

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/report"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/record"
)

// printPlan prints the plan as text. Then it measures this host's noise for two seconds and prints the
// outlook.
func (c *console) printPlan(built *plan.Plan, title string, details bool) error {
	ctx, stop := untilSignal()
	defer stop()
	s := newSheet(c)
	if details {
		s.plan(built, title)
	} else {
		s.shortPlan(built, title)
	}
	if err := s.flush(); err != nil {
		return err
	}
	o, err := lookAhead(ctx, built)
	if err != nil || o == nil {
		return err
	}
	if details {
		s.outlook(o)
	} else {
		s.row("precision", o.reach+"; noise now: "+o.noise)
	}
	return s.flush()
}

// plan prints the whole plan.
func (p *sheet) plan(built *plan.Plan, title string) {
	r := built.Record
	p.heading("experiment %s: %s", r.Experiment, title)
	p.entry("  ", 2, fmt.Sprintf("budget %s, precision ±%s, margin %s, seed %d", quantity.Duration(r.Budget), percent(r.Precision), percent(r.Margin), r.Seed))
	printed := map[string]string{} // arms, as text, to the workload that has them
	for _, l := range built.Loads {
		p.heading("workload %s: %s, %s", l.Name, l.Kind, quantity.Duration(l.Budget))
		if l.Note != "" {
			p.entry("    ", 4, l.Note)
		}
		p.entry("    ", 4, strings.Join(params(l.Params), " "))
		rows := armRows(l)
		arms := fmt.Sprint(rows)
		if first, ok := printed[arms]; ok {
			p.entry("  ", 2, "the same arms as "+first)
		} else {
			printed[arms] = l.Name
			p.columns(rows)
		}
		for _, n := range l.Neighbours {
			where := ""
			if n.Environment != "" {
				where = " in a pod (" + n.Environment + ")"
			}
			p.entry("  ", 2, fmt.Sprintf("neighbour %s: %s%s, at most %d MiB of memory and %d processes", n.Name, n.Kind, where, n.Memory>>20, n.Pids))
			p.entry("    ", 4, strings.Join(params(n.Params), " "))
		}
	}
	p.left(built.Left)
	if len(r.Adopted) > 0 {
		p.heading("settings of your server that are changed or skipped")
		for _, line := range adoptedLines(r.Adopted) {
			p.entry("  ", 2, line)
		}
	}
	if lines := codeLines(built); len(lines) > 0 {
		p.heading("your code; tare undoes only its own changes")
		for _, line := range lines {
			p.entry("  ", 2, line)
		}
	}
	p.heading("changes to this host, each in the undo journal before tare makes it")
	all := changes(built)
	p.columns(changeRows(all))
	if hasTopGroup(all) {
		p.entry("  ", 2, topWeight)
	}
	if worthwhile(built) != nil {
		p.heading("tare run ends at once: nothing is left to compare with %s", built.Loads[0].Baseline)
		return
	}
	p.heading("expected time: %s at most", quantity.Duration(built.Expected().Seconds()))
	p.entry("  ", 2, verdictBudget(built))
	p.entry("  ", 2, "nothing was changed; to run it: "+strings.Join(r.Command, " "))
}

// armRows has an arm's name, title and role in each row.
func armRows(l plan.Load) [][3]string {
	var rows [][3]string
	for _, a := range l.Arms {
		rows = append(rows, [3]string{a.Name, a.Title, role(l, a)})
	}
	return rows
}

// left prints arms that this host cannot have, with reason and remedy.
func (p *sheet) left(left []record.Left) {
	if len(left) == 0 {
		return
	}
	p.heading("skipped on this host")
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
		p.entry(fmt.Sprintf("  %-*s  ", names, name(l)), columns, l.Reason)
		if l.Remedy != "" {
			lead := strings.Repeat(" ", columns) + p.c.translate.join(painted(p.c.translate.of("hint:")), "")
			p.entry(lead, report.Width(lead), l.Remedy)
		}
	}
}

// topGroup matches a change that is a control group directly below the mount point of a
// hierarchy.
var topGroup = regexp.MustCompile(`^` + groupWord + `/sys/fs/cgroup(/[a-z_,]+)?/` + journal.Prefix)

// hasTopGroup says that an arm has a control group at the top of the hierarchy, beside system.slice.
func hasTopGroup(arms []armChanges) bool {
	return slices.ContainsFunc(arms, func(a armChanges) bool {
		return slices.ContainsFunc(a.Changes, func(ch hostChange) bool { return topGroup.MatchString(ch.What) })
	})
}

// changeRows has an arm, a change and its detail in each row.
func changeRows(arms []armChanges) [][3]string {
	var rows [][3]string
	for _, a := range arms {
		name := a.Arm
		for _, ch := range mergeHierarchies(a.Changes) {
			rows = append(rows, [3]string{name, ch.What, ch.Detail})
			name = ""
		}
		if len(a.Changes) == 0 {
			rows = append(rows, [3]string{name, "nothing more", ""})
		}
	}
	return rows
}

// mergeHierarchies merges changes that make the same group in several hierarchies of version 1. In the
// merged path * stands for the hierarchies, which the detail names.
func mergeHierarchies(all []hostChange) []hostChange {
	var out []hostChange
	names := map[hostChange][]string{}
	for _, ch := range all {
		one, hierarchy := ch, ""
		if before, after, ok := strings.Cut(ch.What, "/"+journal.Prefix); ok && strings.HasPrefix(ch.What, groupWord+"/") {
			one.What = filepath.Dir(before) + "/*/" + journal.Prefix + after
			hierarchy = filepath.Base(before)
		}
		if names[one] == nil {
			out = append(out, one)
		}
		names[one] = append(names[one], hierarchy)
	}
	for i, one := range out {
		in := names[one]
		switch {
		case len(in) > 1 && strings.HasPrefix(one.Detail, "controllers "):
			_, limits, _ := strings.Cut(one.Detail, "; ")
			out[i].Detail = strings.TrimSuffix("* is "+strings.Join(in, ", ")+"; "+limits, "; ")
		case len(in) > 1:
			out[i].Detail += "; * is " + strings.Join(in, ", ")
		case in[0] != "":
			out[i].What = strings.Replace(one.What, "/*/", "/"+in[0]+"/", 1)
		}
	}
	return out
}

// groupWord is the first word of a change that makes a control group.
const groupWord = "cgroup "

// columns prints rows of three cells. If the terminal is too narrow for a table, the third
// cell follows the second in rows that fit, and stands below it in others.
func (p *sheet) columns(rows [][3]string) {
	var wide [3]int
	for i, r := range rows {
		for k, cell := range r {
			if k > 0 {
				rows[i][k] = p.c.translate.of(cell)
			}
			wide[k] = max(wide[k], report.Width(rows[i][k]))
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
