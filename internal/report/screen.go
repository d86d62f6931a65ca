package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/record"
)

// answerOf is the answer in the effects; effects of older versions have none.
func answerOf(e *record.Effects) record.Answers {
	if e.Answer == nil {
		return record.Answers{Standing: record.AnsweredNothing}
	}
	return *e.Answer
}

// screen is the default output: a table for each question, where the loss comes from, what to do next.
func (in Language) screen(e *record.Effects, dir string, g *record.Gate) Document {
	a := answerOf(e)
	d := in.tables(e, a)
	if g != nil {
		d.add(in.limitSection(g))
	}
	d.add(section{blocks: []block{in.closing(e, a, dir)}})
	return d
}

// tables is the screen without its end.
func (in Language) tables(e *record.Effects, a record.Answers) Document {
	d := Document{in: in, title: in.title(e)}
	none := a.Standing == record.AnsweredNothing && len(a.Tables) == 0
	if none && e.Title != "" {
		d.add(section{blocks: []block{{items: []item{{text: in.msg("asked.title", "question", in.catalog.Static(e.Title))}}}}})
	}
	d.add(section{blocks: []block{in.caveats(e)}})
	switch {
	case none:
		d.add(section{blocks: []block{{items: []item{{text: in.msg("answer.nothing")}}}}})
	case a.Busy:
		d.add(section{blocks: []block{in.busyHost(e, a)}})
	default:
		for _, t := range a.Tables {
			d.add(section{blocks: []block{in.answerTable(e, t)}})
			d.add(section{blocks: []block{in.whereLost(e, t)}})
			d.add(section{blocks: []block{in.options(e, t)}})
		}
	}
	if s := in.adopted(e.Adopted); len(s) > 0 {
		d.add(section{blocks: []block{{items: []item{{text: s}}}}})
	}
	return d
}

// busyHost is the answer where other work hid it: no level, only what the data rule out.
func (in Language) busyHost(e *record.Effects, a record.Answers) block {
	var causes, most []string
	if a.Noise.ForeignHigh > 0 {
		causes = append(causes, in.text("busy.foreign", "share", quantity.Share(a.Noise.ForeignHigh)))
	}
	if a.Noise.StealHigh > 0 {
		causes = append(causes, in.text("busy.steal", "share", quantity.Share(a.Noise.StealHigh)))
	}
	var reasons arrange.Grouped[record.Said]
	for _, t := range a.Tables {
		for _, r := range t.Rows {
			switch {
			case r.Says.Bound > 0:
				most = append(most, in.text("busy.bound", "row", in.rowName(a, t, r), "loss", percentUp(r.Says.Bound)))
			case !r.Says.Reason.IsZero():
				reasons.Add(r.Says.Reason, in.rowName(a, t, r))
			}
		}
	}
	b := block{items: []item{{text: in.msg("busy.host", "causes", in.joinAll("join.clauses", causes), "time", quantity.Duration(e.Seconds), "rows", in.few(in.undecidedRows(a), 4, in.text("rows.all")))}}}
	if len(most) > 0 {
		b.items = append(b.items, item{text: in.msg("busy.most", "list", in.list(most))})
	}
	for reason, rows := range reasons.All() {
		b.items = append(b.items, item{text: in.stop(in.colon(in.few(rows, 4, in.text("rows.all")), in.clause(reason)))})
	}
	return b
}

// undecidedRows are the names of the rows without an answer.
func (in Language) undecidedRows(a record.Answers) (rows []string) {
	for _, t := range a.Tables {
		for _, r := range t.Rows {
			if !r.Says.Answered() && (r.Says.Word == record.SaysUndecided || r.Says.Word == record.SaysSkipped) {
				rows = append(rows, in.rowName(a, t, r))
			}
		}
	}
	return rows
}

// wanting says how long an answer on the undecided rows would take.
func (in Language) wanting(a record.Answers, n record.NextStep) sentence {
	if n.Seconds == 0 {
		return in.msg("more.unknown")
	}
	if a.Standing == record.AnsweredNone {
		return in.msg("more.first", "time", in.about(n.Seconds))
	}
	return in.msg("more.answer", "time", in.about(n.Seconds), "rows", in.few(in.undecidedRows(a), 2, in.text("rows.rest")))
}

// few lists up to most names; many stands for more.
func (in Language) few(names []string, most int, many string) string {
	if len(names) > most {
		return many
	}
	return in.list(names)
}

// rowName names a row in a sentence: its load, and its arm where the answer has several.
func (in Language) rowName(a record.Answers, t record.AnswerTable, r record.AnswerRow) string {
	if t.Question == record.AskedLayers || r.Arm == "" {
		return r.Workload
	}
	loads := map[string]bool{}
	for _, t := range a.Tables {
		for _, r := range t.Rows {
			loads[r.Workload] = true
		}
	}
	if len(loads) == 1 {
		return r.Arm
	}
	return in.text("row.name", "arm", r.Arm, "load", r.Workload)
}

// closing is the end of the screen.
func (in Language) closing(e *record.Effects, a record.Answers, dir string) block {
	b := block{items: in.concerns(e, a)}
	if e.Imported != nil {
		b.items = append(b.items, in.warnings(e).items...) // lines that were not read
	}
	if s := in.more(e, a, dir); len(s) > 0 {
		b.items = append(b.items, item{text: s})
	}
	return b
}

// concerns is what was skipped, and failed checks.
func (in Language) concerns(e *record.Effects, a record.Answers) (items []item) {
	add := func(s sentence) {
		if len(s) > 0 {
			items = append(items, item{text: s})
		}
	}
	for _, l := range a.Skipped {
		add(in.remedied(in.msg("skipped.arm", "arm", l.Arm, "reason", in.said(l.Reason)), l.Remedy))
	}
	if e.Imported != nil { // a claim that is wrong, settings that differ: each is an answer of its own
		for _, n := range in.failedNotes(in.workloads(e)) {
			add(n)
		}
		return items
	}
	add(in.failedChecks(e))
	add(in.droppedWindows(e.Dropped))
	for _, s := range in.notAsked(e) {
		add(s)
	}
	return items
}

// notAsked names the loads whose layers were skipped because their loss is small or not shown, and the flags that measure them.
func (in Language) notAsked(e *record.Effects) (out []sentence) {
	var loads arrange.Grouped[string]
	for _, w := range e.Workloads {
		if len(w.NotAsked) > 0 {
			arms := append([]string{w.Baseline}, w.NotAsked...)
			if w.Question != "" {
				arms = append(arms, w.Question)
			}
			loads.Add(strings.Join(arms, ","), w.Name)
		}
	}
	for arms, names := range loads.All() {
		out = append(out, in.msg("lost.not_asked", "loads", in.list(names), "arms", arms))
	}
	return out
}

// droppedWindows says how many windows were dropped and why, where it is more than a twentieth.
func (in Language) droppedWindows(d record.Dropped) sentence {
	const few, aTwentieth = 5, 20
	if d.Windows < few || d.Windows*aTwentieth < d.WindowsOf {
		return nil
	}
	var why []string
	for _, reason := range slices.Sorted(maps.Keys(d.Reasons)) {
		why = append(why, in.text("dropped.reason", "reason", in.catalog.Static(reason), "n", d.Reasons[reason]))
	}
	return in.msg("dropped.windows", "n", d.Windows, "of", d.WindowsOf, "why", in.list(why))
}

// rest says where everything else is, on the last line of the screen.
func (in Language) rest(e *record.Effects, o Options) item {
	named := ""
	if o.Named {
		named = " " + quote(o.Dir)
	}
	command := in.text("rest.report", "dir", named)
	if n := len(in.warnings(e).items); n > 0 {
		return item{text: in.msg("rest.warnings", "n", n, "report", command)}
	}
	return item{text: in.msg("rest.open", "report", command)}
}

// failedChecks names the checks that failed, with their loads.
func (in Language) failedChecks(e *record.Effects) sentence {
	var kinds arrange.Grouped[string]
	for _, w := range e.Workloads {
		for _, c := range w.Checks {
			if c.Known && !c.OK {
				kinds.Add(c.Kind, w.Name)
			}
		}
	}
	var parts []string
	for kind, loads := range kinds.All() {
		if len(loads) > 3 {
			loads = append(slices.Clone(loads[:2]), in.text("checks.more", "n", len(loads)-2))
		}
		parts = append(parts, in.text("checks.one", "kind", in.static(kind), "loads", in.list(loads)))
	}
	if len(parts) == 0 {
		return nil
	}
	return in.msg("checks.failed", "which", in.semicolons(parts...))
}

// more is the noise of the host, what more time would decide with the command, and what would lower the noise.
func (in Language) more(e *record.Effects, a record.Answers, dir string) sentence {
	var s sentence
	if a.Noise.Floor > 0 && !a.Busy {
		s = in.msg("noise.floor", "noise", strings.TrimPrefix(quantity.PlusMinus(a.Noise.Floor), "±"))
	}
	var quieter []string
	for _, n := range a.Next {
		switch n.Kind {
		case record.NextContinue:
			if dir == "" {
				dir = "DIR"
			}
			command := cell{in.text("next.continue", "dir", quote(dir)), code}
			if n.Seconds > 0 {
				command.text += " " + in.text("next.budget", "budget", fmt.Sprintf("%.0fm", n.Seconds/60))
			}
			s = in.joined("join.sentences", s, in.wanting(a, n))
			s = append(s, lineBreak, cell{"\u00a0\u00a0", plain}, command)
		case record.NextDedicated:
			quieter = append(quieter, in.text("next.dedicated", "high", quantity.Share(a.Noise.StealHigh)))
		case record.NextQuieter:
			quieter = append(quieter, in.text("next.quieter", "high", quantity.Share(a.Noise.ForeignHigh)))
		}
	}
	if len(quieter) > 0 {
		if len(s) > 0 {
			s = append(s, lineBreak)
		}
		s = append(s, in.msg("next.less", "how", in.semicolons(quieter...))...)
	}
	return s
}
