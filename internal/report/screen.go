package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/base/messages"
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
func screen(e *record.Effects, dir string) Document {
	a := answerOf(e)
	d := Document{title: title(e)}
	d.add(section{blocks: []block{caveats(e)}})
	switch {
	case a.Standing == record.AnsweredNothing && len(a.Tables) == 0:
		d.add(section{blocks: []block{{items: []item{{text: msg("answer.nothing")}}}}})
	case a.Busy:
		d.add(section{blocks: []block{busyHost(e, a)}})
	default:
		for _, t := range a.Tables {
			d.add(section{blocks: []block{answerTable(e, t)}})
			d.add(section{blocks: []block{whereLost(e, t)}})
		}
	}
	d.add(section{blocks: []block{closing(e, a, dir)}})
	return d
}

// busyHost is the answer where other work hid it: no level, only what the data rule out.
func busyHost(e *record.Effects, a record.Answers) block {
	var causes []string
	if a.Noise.ForeignHigh > 0 {
		causes = append(causes, text("busy.foreign", "share", quantity.Share(a.Noise.ForeignHigh)))
	}
	if a.Noise.StealHigh > 0 {
		causes = append(causes, text("busy.steal", "share", quantity.Share(a.Noise.StealHigh)))
	}
	b := block{items: []item{{text: msg("busy.host", "causes", list(causes), "time", quantity.Duration(e.Seconds))}}}
	var most []string
	for _, t := range a.Tables {
		for _, r := range t.Rows {
			if r.Says.Bound > 0 {
				most = append(most, text("busy.bound", "row", rowName(a, t, r), "loss", percentUp(r.Says.Bound)))
			}
		}
	}
	if len(most) > 0 {
		b.items = append(b.items, item{text: msg("busy.most", "list", list(most))})
	}
	return b
}

// rowName names a row in a sentence: its load, and its arm where the answer has several.
func rowName(a record.Answers, t record.AnswerTable, r record.AnswerRow) string {
	if t.Question == record.AskedLayers {
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
	return text("row.name", "arm", r.Arm, "load", r.Workload)
}

// percentUp prints a bound rounded up to a tenth of a percent: a smaller one would not hold.
func percentUp(x float64) string {
	const tenth = 1e-3
	up := float64(int(x/tenth)) * tenth
	if up < x-1e-9 {
		up += tenth
	}
	return quantity.Size(quantity.Round(up, 3))
}

// answerTable is the table of one question.
func answerTable(e *record.Effects, t record.AnswerTable) block {
	b := block{items: []item{{text: asked(e, t)}}}
	ws := workloads(e)
	of := func(name string) workload {
		for _, w := range ws {
			if w.Name == name {
				return w
			}
		}
		return named(record.WorkloadResult{Name: name, Primary: t.Metric})
	}
	var out table
	switch t.Question {
	case record.AskedNeighbour:
		out = neighbourTable(of(t.Workload), t)
	case record.AskedPods:
		out = podsTable(of(t.Workload), t)
	default:
		out = plainTable(of, t)
	}
	out = out.without(colsEmpty(out)...)
	b.forms = [][]table{{out}, {out.tightly()}}
	for _, drop := range []messages.Key{"head.p99", "price.isolation", "head.cpu"} { // narrow terminals
		if i := slices.IndexFunc(out.columns, func(c column) bool { return c.head == text(drop) }); i >= 0 {
			out = out.without(i)
			b.forms = append(b.forms, []table{out}, []table{out.tightly()})
		}
	}
	b.notes = answerNotes(e, t)
	return b
}

// asked is the sentence over a table.
func asked(e *record.Effects, t record.AnswerTable) sentence {
	key := messages.Key("asked.arms")
	switch {
	case t.Question == record.AskedLayers && t.Container:
		key = "asked.container"
	case t.Question == record.AskedLayers && t.Subject == "":
		key = "asked.layers"
	case t.Question == record.AskedLayers:
		key = "asked.arm"
	case t.Question == record.AskedNeighbour:
		key = "asked.neighbour"
	case t.Question == record.AskedPods:
		key = "asked.pods"
	case t.Question == record.AskedLogs:
		key = "asked.logs"
	}
	w := named(record.WorkloadResult{Name: t.Workload, Primary: t.Metric})
	load := t.Workload
	if loads := distinct(t.Rows, func(r record.AnswerRow) string { return r.Workload }); len(loads) == 1 {
		load = loads[0]
		switch key {
		case "asked.arms":
			key = "asked.arms.one"
		case "asked.logs":
			key = "asked.logs.one"
		}
	}
	return msg(key, "arm", layerName(t.Subject), "baseline", t.Baseline, "load", load, "neighbour", t.Neighbour, "metric", w.metricWord(t.Metric).of)
}

// plainTable is a row for each load and arm.
func plainTable(of func(string) workload, t record.AnswerTable) table {
	loads, arms := distinct(t.Rows, func(r record.AnswerRow) string { return r.Workload }), distinct(t.Rows, func(r record.AnswerRow) string { return r.Arm })
	m := of(t.Rows[0].Workload).metricWord(t.Metric)
	out := table{columns: []column{
		{head: text("head.load"), flex: 10}, {head: text("head.arm"), flex: 10}, {head: text("head.on", "baseline", t.Baseline), align: right},
		{head: m.head, align: right}, {head: text("head.p99"), align: right}, {head: text("head.cpu"), align: right}, {head: text("head.answer")},
	}}
	last := ""
	for _, r := range t.Rows {
		w := of(r.Workload)
		line := row{{}, {}, {}, effectWith(w, r.Effect), changeCell(w, r.P99), changeCell(w, r.CPU), answerCell(r)}
		if len(loads) > 1 || t.Question == record.AskedLayers {
			line[0] = cell{r.Workload, strong}
		}
		if (len(arms) > 1 || len(loads) == 1) && t.Question != record.AskedLayers {
			line[1] = cell{r.Arm, strong}
		}
		if r.Workload == last {
			line[0].text = ""
		} else if r.Level != nil {
			line[2] = cell{w.metricWord(t.Metric).show(*r.Level), plain}
		}
		last = r.Workload
		out.rows = append(out.rows, line)
	}
	return out
}

// neighbourTable is a row for each isolation, below that of the load alone.
func neighbourTable(w workload, t record.AnswerTable) table {
	out := table{columns: []column{
		{head: text("head.arm"), flex: 10}, {head: text("price.isolation"), flex: 8}, {head: w.metricWord(t.Metric).head, align: right},
		{head: text("price.regained"), align: right}, {head: text("price.keeps"), align: right}, {head: text("head.p99"), align: right}, {head: text("head.answer")},
	}}
	for _, r := range t.Rows {
		line := row{{r.Arm, strong}, {list(r.Isolation), plain}, effectWith(w, r.Effect), {}, {}, changeCell(w, r.P99), answerCell(r)}
		if r.Effect == nil && r.Level != nil {
			line[2] = cell{w.metricWord(t.Metric).show(*r.Level), plain}
		}
		if r.Regained != nil {
			line[3] = shareCell(record.Regained{Share: r.Regained}, false)
		}
		if r.Kept != nil {
			line[4] = cell{quantity.Share(r.Kept.Ratio), plain}
		}
		out.rows = append(out.rows, line)
	}
	return out
}

// podsTable is a row for each pod, alone and beside the neighbour.
func podsTable(w workload, t record.AnswerTable) table {
	out := table{columns: []column{
		{head: t.Workload, flex: 10}, {head: text("price.alone"), align: right}, {head: text("head.beside", "neighbour", t.Neighbour), align: right},
		{head: text("head.p99"), align: right}, {head: text("head.answer")},
	}}
	for _, r := range t.Rows {
		line := row{{r.Arm, strong}, effectWith(w, r.Effect), effectWith(w, r.Beside), changeCell(w, r.P99), answerCell(r)}
		if r.Effect == nil && r.Level != nil {
			line[1] = cell{w.metricWord(t.Metric).show(*r.Level), plain}
		}
		out.rows = append(out.rows, line)
	}
	return out
}

// effectWith is an effect with its half-width and a star where it is shown: "-29.0 % ±1.4*".
func effectWith(w workload, x *record.Effect) cell {
	switch {
	case x == nil:
		return cell{}
	case arrange.Seen(*x):
		return seenCell(*x)
	case x.Typical == nil:
		return cell{none, faint}
	}
	s := around(x.Typical)
	change, half, _ := strings.Cut(s, " ")
	s = change + " %"
	if half != "" {
		s += " " + half
	}
	return starred(w, x, s)
}

// starred adds the mark of an effect, or a space, so that the numbers line up.
func starred(w workload, x *record.Effect, s string) cell {
	switch {
	case x.Unequal != "":
		return cell{s + markUnequal, unsure}
	case w.InNoise(*x), w.noisy(x.Metric) && arrange.Moved(*x):
		return cell{s + markNoise, unsure}
	case arrange.Moved(*x):
		return cell{s + markMoved, verdictTone(x.Verdict)}
	}
	return cell{s + " ", plain}
}

// vague is the half-width from which an undecided change is printed as its half-width only.
const vague = 0.25

// changeCell is a change in whole percent: "+41 %*".
func changeCell(w workload, x *record.Effect) cell {
	if x == nil || x.Typical == nil {
		return cell{}
	}
	r := x.Typical
	if half := max(r.High-r.Ratio, r.Ratio-r.Low); !arrange.Moved(*x) && half > vague {
		if half > 1 {
			return cell{none + " ", faint}
		}
		return cell{"±" + quantity.Unsigned(quantity.Change(1+half, 0)) + " % ", faint}
	}
	return starred(w, x, quantity.WithUnit(quantity.Change(r.Ratio, 0), "%"))
}

// The marks behind effects.
const (
	markMoved   = "*"
	markUnequal = "≠"
	markNoise   = "~"
)

// answerCell is the verdict of a row in words.
func answerCell(r record.AnswerRow) cell {
	s := r.Says
	var said string
	t := plain
	switch s.Word {
	case record.SaysSlower, record.SaysFaster:
		said, t = text("says.slower"), bad
		if s.Word == record.SaysFaster {
			said, t = text("says.faster"), good
		}
		if why := causeWords(r); why != "" {
			said = text("says.because", "verdict", said, "causes", why)
		}
	case record.SaysNoLoss:
		said, t = text("says.noloss", "bound", percentUp(s.Bound)), good
	case record.SaysNoDifference:
		said, t = text("says.nodifference", "bound", percentUp(s.Bound)), good
	case record.SaysUndecided:
		said, t = undecidedWords(r), unsure
	case record.SaysInvalid:
		said, t = text("says.invalid"), broken
	case record.SaysSkipped:
		said, t = text("says.skipped"), faint
	}
	switch {
	case s.As != "":
		said, t = text("says.as", "arm", s.As, "within", percentUp(s.Within)), plain
	case s.Protects:
		said, t = text("says.protects"), good
	}
	return cell{said, t}
}

// causeWords are the metric that decided and the shown causes; more CPU per operation has a column.
func causeWords(r record.AnswerRow) string {
	var why []string
	if r.Says.Metric != "" {
		why = append(why, text("head.cpu"))
	}
	for _, c := range r.Says.Causes {
		if c != record.CauseWork || r.CPU == nil && r.Says.Metric == "" {
			why = append(why, text(causeNames[c]))
		}
	}
	return strings.Join(why, ", ")
}

var causeNames = map[record.Cause]messages.Key{
	record.CauseWork: "cause.work", record.CauseCPU: "cause.cpu", record.CauseOther: "cause.other", record.CauseDisk: "cause.disk",
	record.CauseThrottle: "cause.throttling", record.CauseNetwork: "cause.network", record.CauseBursts: "cause.bursts", record.CauseSpeeds: "cause.speeds",
}

func undecidedWords(r record.AnswerRow) string {
	switch s := r.Says; {
	case s.Bound > 0:
		return text("says.undecided.most", "loss", percentUp(s.Bound))
	case s.Seconds > 0:
		return text("says.undecided.time", "time", quantity.About(s.Seconds))
	}
	return text("says.undecided")
}

// answerNotes explain the marks that are used, and give the reasons of invalid and skipped rows.
func answerNotes(e *record.Effects, t record.AnswerTable) []sentence {
	var notes []sentence
	var why arrange.Grouped[[2]string]
	marks := map[string]bool{}
	for _, r := range t.Rows {
		for _, x := range []*record.Effect{r.Effect, r.Beside, r.P99, r.CPU} {
			if x != nil && x.Typical != nil {
				w := workloadOf(e, r.Workload)
				if s := effectWith(w, x).text; s != "" {
					marks[string([]rune(s)[len([]rune(s))-1:])] = true
				}
			}
		}
		if s := r.Says; s.Reason != "" && !(s.Word == record.SaysUndecided && s.Bound > 0) {
			why.Add([2]string{string(s.Word) + ": " + strings.TrimRight(s.Reason, "."), s.Remedy}, rowName(answerOf(e), t, r))
		}
	}
	var legend []string
	for _, m := range []struct {
		mark string
		key  messages.Key
	}{{markMoved, "mark.moved"}, {markNoise, "mark.noise"}, {markUnequal, "mark.unequal"}} {
		if marks[m.mark] {
			legend = append(legend, text(m.key))
		}
	}
	if len(legend) > 0 {
		notes = append(notes, sentence{{strings.Join(legend, "   "), faint}})
	}
	if t.Question == record.AskedLayers && t.Subject == "" && !t.Container {
		var top arrange.Grouped[string]
		for _, r := range t.Rows {
			top.Add(r.Arm, r.Workload)
		}
		for arm, loads := range top.All() {
			notes = append(notes, msg("layers.upto", "layer", layerName(arm), "loads", list(loads)))
		}
	}
	for reason, rows := range why.All() {
		notes = append(notes, remedied(say(list(rows)+" "+reason[0]+"."), reason[1]))
	}
	if t.Invalid != "" {
		notes = append(notes, msg("price.invalid", "reason", t.Invalid))
	}
	return notes
}

func workloadOf(e *record.Effects, name string) workload {
	for _, w := range workloads(e) {
		if w.Name == name {
			return w
		}
	}
	return named(record.WorkloadResult{Name: name})
}

// whereLost is the table of the layers that are shown to differ from the one below, by the loads that
// lose, and the arms beside the ladder that differ.
func whereLost(e *record.Effects, t record.AnswerTable) block {
	var loads, shown, beside, other arrange.Ordered
	cells := map[arrange.Key]cell{} // by load and arm
	for _, r := range t.Rows {
		w := workloadOf(e, r.Workload)
		steps := r.Steps
		if r.Says.Word != record.SaysSlower {
			steps = nil
		}
		for _, x := range steps {
			shown.Add(x.Arm)
		}
		for _, x := range r.Besides {
			beside.Add(x.Arm)
		}
		for _, x := range slices.Concat(steps, r.Besides) {
			loads.Add(r.Workload)
			cells[key(r.Workload, x.Arm)] = effectWith(w, &x)
		}
		for _, arm := range r.Unshown {
			other.Add(arm)
		}
	}
	if len(loads) == 0 {
		return block{}
	}
	out := table{columns: []column{{head: text("lost.layer"), flex: 12}}}
	for _, load := range loads {
		out.columns = append(out.columns, column{head: load, align: right})
	}
	for _, arm := range slices.Concat(shown, beside) {
		line := row{{layerName(arm), strong}}
		if slices.Contains(beside, arm) {
			line[0].text = text("lost.beside", "arm", layerName(arm), "baseline", t.Baseline)
		}
		for _, load := range loads {
			line = append(line, cells[key(load, arm)])
		}
		out.rows = append(out.rows, line)
	}
	b := block{items: []item{{text: msg("lost.where")}}, forms: [][]table{{out}, {out.tightly()}}}
	other = slices.DeleteFunc(other, func(arm string) bool { return slices.Contains(shown, arm) })
	if len(other) > 0 {
		b.notes = []sentence{msg("lost.unshown", "layers", strings.Join(layerNamesOf(other), ", "))}
	}
	return b
}

// layerName is the field's noun for what an arm adds.
func layerName(arm string) string {
	if k, ok := layerNames[arm]; ok {
		return text(k)
	}
	return arm
}

func layerNamesOf(arms []string) (out []string) {
	for _, a := range arms {
		out = append(out, layerName(a))
	}
	return out
}

var layerNames = map[string]messages.Key{
	"cgroup": "layer.cgroup", "namespaces": "layer.namespaces", "rootfs": "layer.rootfs", "security": "layer.security",
	"network": "layer.network", "nat": "layer.nat", "container": "layer.container", "cpu-limit": "layer.cpu-limit",
}

// closing is the noise, what was skipped, failed checks, what more time would decide, where the rest is.
func closing(e *record.Effects, a record.Answers, dir string) block {
	var b block
	add := func(s sentence) {
		if len(s) > 0 {
			b.items = append(b.items, item{text: s})
		}
	}
	for _, l := range a.Skipped {
		add(remedied(msg("skipped.arm", "arm", l.Arm, "reason", l.Reason), l.Remedy))
	}
	add(failedChecks(e))
	add(more(e, a, dir))
	if e.Imported == nil {
		key := messages.Key("rest.open")
		if n := len(warnings(e).items); n > 0 {
			add(msg("rest.warnings", "n", n))
		} else {
			add(msg(key))
		}
	}
	return b
}

// failedChecks names the checks that failed, with their loads.
func failedChecks(e *record.Effects) sentence {
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
			loads = append(slices.Clone(loads[:2]), text("checks.more", "n", len(loads)-2))
		}
		parts = append(parts, text("checks.one", "kind", kind, "loads", list(loads)))
	}
	if len(parts) == 0 {
		return nil
	}
	return msg("checks.failed", "which", strings.Join(parts, "; "))
}

// more is the noise of the host, what more time would decide with the command, and what would lower the noise.
func more(e *record.Effects, a record.Answers, dir string) sentence {
	var s sentence
	if a.Noise.Floor > 0 && !a.Busy {
		s = msg("noise.floor", "noise", strings.TrimPrefix(quantity.PlusMinus(a.Noise.Floor), "±"))
	}
	var quieter []string
	for _, n := range a.Next {
		switch n.Kind {
		case record.NextContinue:
			if dir == "" {
				dir = "DIR"
			}
			command := cell{text("next.continue", "dir", quote(dir), "budget", fmt.Sprintf("%.0fm", n.Seconds/60)), code}
			s = joined(" ", s, msg("more.answer", "time", quantity.About(n.Seconds)))
			s = append(s, lineBreak, cell{"\u00a0\u00a0", plain}, command)
		case record.NextDedicated:
			quieter = append(quieter, text("next.dedicated", "high", quantity.Share(a.Noise.StealHigh)))
		case record.NextQuieter:
			quieter = append(quieter, text("next.quieter", "high", quantity.Share(a.Noise.ForeignHigh)))
		}
	}
	if len(quieter) > 0 {
		if len(s) > 0 {
			s = append(s, lineBreak)
		}
		s = append(s, msg("next.less", "how", strings.Join(quieter, "; "))...)
	}
	return s
}
