package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/report"
	"github.com/tarelab/tare/record"
)

// topWeight warns of control groups beside system.slice.
const topWeight = "control groups at the top have the default weight: where CPUs are short, each gets as much as system.slice with all its services"

// row prints a label and a text in columns.
func (p *sheet) row(label, text string) {
	p.entry("  "+report.PadRight(p.c.translate.of(label), 9)+"  ", 13, text)
}

// list prints a label and names in columns.
func (p *sheet) list(label string, names []string) {
	p.names("  "+report.PadRight(p.c.translate.of(label), 9)+"  ", 13, names)
}

// shortPlan prints what a run does and changes, in about ten lines.
func (p *sheet) shortPlan(built *plan.Plan, title string) {
	r := built.Record
	p.heading("tare run %s: %s", r.Experiment, title)
	impossible := worthwhile(built) != nil
	if !impossible {
		p.row("time", fmt.Sprintf("%s at most; %s", quantity.Duration(built.Expected().Seconds()), verdictBudget(built)))
	}
	var loads []string
	var arms, beside arrange.Ordered
	for _, l := range built.Loads {
		loads = append(loads, l.Name)
		for _, a := range l.Arms {
			name := a.Name
			if a.Name == l.Baseline {
				name = p.c.translate.of(name + " (baseline)")
			}
			arms.Add(name)
		}
		for _, n := range l.Neighbours {
			beside.Add(fmt.Sprintf("%s: %s, at most %d MiB of memory and %d processes", n.Name, n.Kind, n.Memory>>20, n.Pids))
		}
	}
	p.list("loads", loads)
	p.list("arms", arms)
	for _, n := range beside {
		p.row("neighbour", n)
	}
	p.skipped(built.Left)
	for _, line := range adoptedLines(r.Adopted) {
		p.row("settings", line)
	}
	for _, line := range codeLines(built) {
		p.row("your code", line)
	}
	all := changes(built)
	p.row("changes", changesInWords(all, p.c.translate)+"; each undone at the end, or by tare cleanup after a kill")
	if hasTopGroup(all) {
		p.row("", topWeight)
	}
	if impossible {
		p.row("result", fmt.Sprintf("tare run ends at once: nothing is left to compare with %s", built.Loads[0].Baseline))
		return
	}
	p.row("run it", strings.Join(r.Command, " "))
	p.row("all steps", planOf(r.Command)+" -v; nothing was changed yet")
}

// planOf is the command that plans what a command runs.
func planOf(run []string) string {
	args := slices.DeleteFunc(slices.Clone(run), func(a string) bool { return strings.HasPrefix(a, "--seed=") })
	return strings.Replace(strings.Join(args, " "), "tare run", "tare plan", 1)
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
		t := p.c.translate
		text := t.names(names) + t.mark(": ", "：") + t.of(why.Reason)
		if why.Remedy != "" {
			text += " → " + t.of(why.Remedy)
		}
		p.row("skipped", text)
	}
}

// changesInWords counts the changes by kind: "8 directories in /var/tmp".
func changesInWords(arms []armChanges, t translation) string {
	counts, kinds := map[string]int{}, arrange.Ordered{}
	for _, a := range arms {
		for _, ch := range mergeHierarchies(a.Changes) {
			kind, _, _ := strings.Cut(ch.What, " /")
			kind, _, _ = strings.Cut(kind, " tare")
			if at := strings.Index(ch.What, "/tare-RUN"); kind == "directory" && at > 0 {
				kind += " below " + strings.TrimPrefix(ch.What[:at], "directory ")
			}
			if kind == strings.TrimSpace(groupWord) {
				kind = "control group"
			}
			kinds.Add(kind)
			counts[kind]++
		}
	}
	var out []string
	for _, kind := range kinds {
		text := t.of(fmt.Sprintf("%d × %s", counts[kind], kind))
		out = append(out, strings.TrimPrefix(text, "1 × "))
	}
	return cmp.Or(t.names(out), "none")
}
