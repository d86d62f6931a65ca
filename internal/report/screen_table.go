package report

import (
	"slices"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/record"
)

// answerTable is the table of one question.
func (in Language) answerTable(e *record.Effects, t record.AnswerTable) block {
	b := block{items: []item{{text: in.asked(e, t)}}}
	ws := in.workloads(e)
	of := func(name string) workload {
		for _, w := range ws {
			if w.Name == name {
				return w
			}
		}
		return in.named(record.WorkloadResult{Name: name, Primary: t.Metric})
	}
	var out table
	switch t.Question {
	case record.AskedNeighbour:
		out = in.neighbourTable(of(t.Workload), t)
	case record.AskedPods:
		out = in.podsTable(of(t.Workload), t)
	case record.AskedLimit:
		out = in.limitTable(of(t.Workload), t)
	case record.AskedObjective:
		out = in.objectiveTable(of(t.Workload), t)
	default:
		out = in.plainTable(of, t)
	}
	b.tables = []table{out.filled()}
	b.notes = in.reasons(e, t)
	return b
}

// asked is the sentence over a table.
func (in Language) asked(e *record.Effects, t record.AnswerTable) sentence {
	key := messages.Key("asked.arms")
	switch {
	case t.Question == record.AskedLayers && t.Container:
		key = "asked.container"
	case t.Question == record.AskedLayers:
		key = "asked.layers"
	case t.Question == record.AskedNeighbour:
		key = "asked.neighbour"
	case t.Question == record.AskedPods:
		key = "asked.pods"
	case t.Question == record.AskedLimit:
		key = "asked.limit"
	case t.Question == record.AskedLogs:
		key = "asked.logs"
	case t.Question == record.AskedObjective:
		return in.askedObjective(t)
	}
	if onlyLevels(t) {
		key = "asked.levels"
	}
	w := in.named(record.WorkloadResult{Name: t.Workload, Primary: t.Metric})
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
	if key == "asked.levels" && len(distinct(t.Rows, func(r record.AnswerRow) string { return r.Workload })) > 1 {
		key = "asked.levels.many"
	}
	bare := map[messages.Key]messages.Key{"asked.logs": "asked.logs.bare", "asked.logs.one": "asked.logs.one.bare"}
	if without, ok := bare[key]; ok && !slices.ContainsFunc(t.Rows, hasInterval) {
		key = without
	}
	return in.msg(key, "baseline", t.Baseline, "load", load, "neighbour", t.Neighbour, "metric", w.metricWord(t.Metric).of)
}

// hasInterval reports whether the effect of a row has an interval, of the effect or inside its runs.
func hasInterval(r record.AnswerRow) bool {
	return r.Effect != nil && (r.Effect.Typical != nil || r.Effect.Within != nil)
}

// onlyLevels reports whether only the baseline was measured, so that there is nothing to compare.
func onlyLevels(t record.AnswerTable) bool {
	return !slices.ContainsFunc(t.Rows, func(r record.AnswerRow) bool { return r.Says.Word != "" })
}

// plainTable is a row for each load and arm.
func (in Language) plainTable(of func(string) workload, t record.AnswerTable) table {
	loads, arms := distinct(t.Rows, func(r record.AnswerRow) string { return r.Workload }), distinct(t.Rows, func(r record.AnswerRow) string { return r.Arm })
	m := of(t.Rows[0].Workload).metricWord(t.Metric)
	out := table{columns: []column{
		{head: in.text("head.load"), flex: 10}, {head: in.text("head.arm"), flex: 10}, {head: in.text("head.on", "baseline", t.Baseline), align: right, drop: 3},
		{head: m.head, align: right}, {head: in.text("head.p99"), align: right, drop: 1}, {head: in.text("head.cpu"), align: right, drop: 2}, {head: in.text("head.answer"), wrap: leastAnswer},
	}}
	if slices.ContainsFunc(t.Rows, byCPU) {
		out.columns[5].drop = 0
	}
	if onlyLevels(t) {
		out.columns[2].head = m.head
		if of(t.Rows[0].Workload).Imported {
			out.columns[6].head = in.text("head.runs")
		}
	}
	last := ""
	for _, r := range t.Rows {
		w := of(r.Workload)
		line := row{cell{}, cell{}, cell{}, in.effectWith(w, r.Effect), changeCell(w, r.P99), changeCell(w, r.CPU), in.answerCell(r)}
		if w.Imported && onlyLevels(t) {
			line[6] = cell{in.said(w.Arm[r.Arm].Title), plain}
		}
		if len(loads) > 1 || t.Question == record.AskedLayers {
			line[0] = cell{r.Workload, strong}
		}
		if (len(arms) > 1 || len(loads) == 1) && t.Question != record.AskedLayers {
			line[1] = cell{r.Arm, strong}
		}
		if r.Workload == last {
			line[0] = cell{}
		} else if r.Level != nil {
			line[2] = cell{w.metricWord(t.Metric).show(*r.Level), plain}
		}
		last = r.Workload
		out.rows = append(out.rows, line)
	}
	return out
}

// byCPU reports whether the answer of a row rests on CPU time per operation.
func byCPU(r record.AnswerRow) bool {
	return r.Says.CPU != "" || slices.Contains(r.Says.Causes, record.CauseWork)
}

// neighbourTable is a row for each isolation, below that of the load alone.
func (in Language) neighbourTable(w workload, t record.AnswerTable) table {
	out := table{columns: []column{
		{head: in.text("head.arm"), flex: 10}, {head: in.text("price.isolation"), drop: 1}, {head: w.metricWord(t.Metric).head, align: right},
		{head: in.text("price.regained"), align: right}, {head: in.text("price.keeps"), align: right}, {head: in.text("head.p99"), align: right, drop: 2}, {head: in.text("head.answer"), wrap: leastAnswer},
	}}
	for _, r := range t.Rows {
		line := row{cell{r.Arm, strong}, cell{in.list(r.Isolation), plain}, in.effectWith(w, r.Effect), cell{}, cell{}, changeCell(w, r.P99), in.answerCell(r)}
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
func (in Language) podsTable(w workload, t record.AnswerTable) table {
	out := table{columns: []column{
		{head: t.Workload, flex: 10}, {head: in.text("price.alone"), align: right}, {head: in.text("head.beside", "neighbour", t.Neighbour), align: right},
		{head: in.text("head.p99"), align: right, drop: 1}, {head: in.text("head.answer"), wrap: leastAnswer},
	}}
	for _, r := range t.Rows {
		line := row{cell{r.Arm, strong}, in.effectWith(w, r.Effect), in.effectWith(w, r.Beside), changeCell(w, r.P99), in.answerCell(r)}
		if r.Effect == nil && r.Level != nil {
			line[1] = cell{w.metricWord(t.Metric).show(*r.Level), plain}
		}
		out.rows = append(out.rows, line)
	}
	return out
}

// reasons are those of undecided, invalid and skipped rows, why a row with a verdict is unequal, and the
// layers that the rows are about.
func (in Language) reasons(e *record.Effects, t record.AnswerTable) []sentence {
	var notes []sentence
	type told struct {
		text   string
		remedy record.Said
	}
	var why, keeps arrange.Grouped[told]
	for _, r := range t.Rows {
		s, name := r.Says, in.rowName(answerOf(e), t, r)
		if r.Effect != nil && !r.Effect.Unequal.IsZero() {
			keeps.Add(told{in.clause(r.Effect.Unequal), s.Remedy}, name)
		} else if !s.Reason.IsZero() && !s.Word.Decided() && !(s.Word == record.SaysUndecided && s.Bound > 0) {
			why.Add(told{in.colon(in.static(string(s.Word)), in.clause(s.Reason)), s.Remedy}, name)
		}
	}
	if t.Question == record.AskedLayers && !t.Container {
		var top arrange.Grouped[string]
		for _, r := range t.Rows {
			if r.Arm != "" { // measured
				top.Add(r.Arm, r.Workload)
			}
		}
		for arm, loads := range top.All() {
			notes = append(notes, in.msg("layers.upto", "layer", in.layerName(arm), "loads", in.list(loads)))
		}
	}
	for reason, rows := range why.All() {
		notes = append(notes, in.remedied(in.stated(in.list(rows), reason.text), reason.remedy))
	}
	for reason, rows := range keeps.All() {
		notes = append(notes, in.remedied(in.stop(in.colon(string(unequal)+" "+in.list(rows), reason.text)), reason.remedy))
	}
	said := slices.ContainsFunc(t.Rows, func(r record.AnswerRow) bool { return r.Says.Word == record.SaysInvalid })
	if !t.Invalid.IsZero() && !said {
		notes = append(notes, in.msg("price.invalid", "reason", in.said(t.Invalid)))
	}
	return notes
}

func (in Language) workloadOf(e *record.Effects, name string) workload {
	for _, w := range in.workloads(e) {
		if w.Name == name {
			return w
		}
	}
	return in.named(record.WorkloadResult{Name: name})
}

// whereLost is the table of the layers that are shown to differ from the one below, by the loads that
// lose, and the arms beside the ladder that differ.
func (in Language) whereLost(e *record.Effects, t record.AnswerTable) block {
	var loads, shown, beside, other, nowhere arrange.Ordered
	cells := map[arrange.Key]figure{} // by load and arm
	for _, r := range t.Rows {
		w := in.workloadOf(e, r.Workload)
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
			cells[key(r.Workload, x.Arm)] = in.effectWith(w, &x)
		}
		if r.Says.Word == record.SaysSlower && len(steps) == 0 && len(r.Unshown) > 1 {
			nowhere.Add(r.Workload)
			continue
		}
		for _, arm := range r.Unshown {
			other.Add(arm)
		}
	}
	var notes []sentence
	if len(nowhere) > 0 {
		notes = append(notes, in.msg("lost.nowhere", "loads", in.list(nowhere)))
	}
	if len(loads) == 0 {
		return block{notes: notes}
	}
	out := table{columns: []column{{head: in.text("lost.layer"), flex: 12}}}
	for _, load := range loads {
		out.columns = append(out.columns, column{head: load, align: right})
	}
	for _, arm := range slices.Concat(shown, beside) {
		line := row{cell{in.layerName(arm), strong}}
		if slices.Contains(beside, arm) {
			line[0] = cell{in.text("lost.beside", "arm", in.layerName(arm), "baseline", t.Baseline), strong}
		}
		for _, load := range loads {
			line = append(line, cells[key(load, arm)])
		}
		out.rows = append(out.rows, line)
	}
	b := block{items: []item{{text: in.msg("lost.where")}}, tables: []table{out}}
	other = slices.DeleteFunc(other, func(arm string) bool { return slices.Contains(shown, arm) })
	if len(other) > 0 {
		b.notes = append(b.notes, in.msg("lost.unshown", "layers", in.names(in.layerNamesOf(other))))
	}
	b.notes = append(b.notes, notes...)
	return b
}

// layerName is the field's noun for what an arm adds.
func (in Language) layerName(arm string) string {
	if k, ok := layerNames[arm]; ok {
		return in.text(k)
	}
	return arm
}

func (in Language) layerNamesOf(arms []string) (out []string) {
	for _, a := range arms {
		out = append(out, in.layerName(a))
	}
	return out
}

var layerNames = map[string]messages.Key{
	"cgroup": "layer.cgroup", "namespaces": "layer.namespaces", "rootfs": "layer.rootfs", "security": "layer.security",
	"network": "layer.network", "nat": "layer.nat", "container": "layer.container", "cpu-limit": "layer.cpu-limit",
}
