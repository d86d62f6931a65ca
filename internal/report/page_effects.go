package report

import (
	"slices"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/internal/report/chart"
	"github.com/tarelab/tare/internal/report/export"
	catalogue "github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// drawn is an effect as a row of a forest.
func (in Language) drawn(label, note string, x record.Effect, margin float64) chart.Effect {
	verdict := in.verdictCell(x)
	r := chart.Effect{Label: export.Clean(label), Note: export.Clean(note), Text: export.Clean(in.seenCell(x).whole()), Word: export.Clean(verdict.text), Tone: "calm"}
	if verdict.tone != faint {
		r.Tone = toneClass[verdict.tone]
	}
	switch {
	case x.Typical != nil:
		r.Known, r.Span = true, chart.Span{Mid: x.Typical.Ratio - 1, Low: x.Typical.Low - 1, High: x.Typical.High - 1}
	case arrange.Seen(x): // of imported figures: the line is the noise inside the runs
		mid := x.Observed - 1
		r.Known, r.Loose, r.Span = true, true, chart.Span{Mid: mid, Low: mid, High: mid}
		if x.Within != nil {
			r.Low, r.High = x.Within.Low-1, x.Within.High-1
		}
	}
	return r
}

// answered is drawn for a row of the answer. Where the table finds the row invalid, the verdict is the table's, too.
// The verdict of a pod beside a
// neighbour is not about the effect alone.
func (in Language) answered(label, note string, r record.AnswerRow, margin float64) chart.Effect {
	d := in.drawn(label, note, *r.Effect, margin)
	open := r.Says.Word == record.SaysUndecided && r.Effect.Verdict == record.Undecided
	if r.Beside == nil && !open && r.Says.Word == record.SaysInvalid {
		said := in.answerCell(r)
		d.Word, d.Tone = export.Clean(said.text), toneClass[said.tone]
	}
	return d
}

// forest draws a figure where at least one of its effects is known.
func (r *htmlRenderer) forest(title string, f chart.Forest, legend ...string) {
	if !slices.ContainsFunc(f.Rows, func(x chart.Effect) bool { return x.Known }) {
		return
	}
	f.Tick = tickOf
	r.figure(title, f.Draw(), legend...)
}

// legend explains the marks of all forests of a page.
func (in Language) forestLegend(e *record.Effects) string {
	if e.Imported != nil {
		return in.text("join.sentences", "before", in.text("key.forest"), "after", in.text("key.seen"))
	}
	return in.text("join.sentences", "before", in.text("key.forest"), "after", in.text("figure.margin", "margin", quantity.PlusMinus(e.Margin)))
}

// overview is the arms that the answer is about in every load; of one load all arms.
func (r *htmlRenderer) overview(e *record.Effects, ws []workload) {
	if len(ws) == 1 {
		r.effects(e, ws[0], "overview", r.in.forestLegend(e))
		return
	}
	f := chart.Forest{ID: "overview", Margin: e.Margin, Less: r.in.text("axis.fewer"), More: r.in.text("axis.greater")}
	var heads arrange.Ordered
	var last workload
	for _, w := range ws {
		found := slices.DeleteFunc(rowsOf(e, w.Name), func(r record.AnswerRow) bool { return r.Effect == nil })
		if len(found) > 1 {
			f.Rows = append(f.Rows, chart.Effect{Head: true, Label: export.Clean(w.Name)})
		}
		for _, x := range found {
			label, note := w.Name, x.Arm
			if len(found) > 1 {
				label, note = x.Arm, ""
			}
			last = w
			heads.Add(w.metricWord(w.Primary).head)
			f.Rows = append(f.Rows, r.in.answered(label, note, x, e.Margin))
		}
	}
	title := r.in.text("figure.answer")
	if len(heads) == 1 {
		m := last.metricWord(last.Primary)
		title = r.in.text("figure.answer.of", "metric", m.of)
		f.Less, f.More = m.axis("axis.less"), m.axis("axis.more")
	}
	r.forest(title, f, r.in.forestLegend(e))
}

// axis is a message about an end of an axis: what it means for this metric.
func (m metric) axis(key messages.Key) string { return m.in.text(key, "metric", export.Clean(m.head)) }

// effects are the effects of all arms on the primary metric.
func (r *htmlRenderer) effects(e *record.Effects, w workload, id string, legend ...string) {
	m := w.metricWord(w.Primary)
	f := chart.Forest{ID: id, Margin: e.Margin, Noise: w.NoiseFloor, Less: m.axis("axis.less"), More: m.axis("axis.more")}
	for _, arm := range w.Arms() {
		x, ok := w.PrimaryOf(arm)
		if !ok {
			continue
		}
		row := r.in.drawn(arm, w.word(arm).adds, x, e.Margin)
		for _, said := range rowsOf(e, w.Name) {
			if said.Arm == arm && said.Effect != nil && said.Effect.Baseline == w.Baseline {
				row = r.in.answered(arm, w.word(arm).adds, said, e.Margin)
			}
		}
		if slices.Contains(w.Twins, arm) {
			t := w.twinRow(e, arm)
			row.Note, row.Word, row.Tone = export.Clean(t[colAdds].figure().text), t[colVerdict].figure().text, "unsure"
			if t[colEffect].figure().tone == broken {
				row.Tone = toneClass[broken]
			}
		}
		f.Rows = append(f.Rows, row)
	}
	if w.NoiseFloor > 0 {
		legend = append(legend, r.in.text("figure.noise", "noise", quantity.PlusMinus(w.NoiseFloor)))
	}
	r.forest(r.in.text("figure.effects", "metric", m.of, "baseline", w.Baseline, "level", w.value(w.Baseline, w.Primary).text), f, legend...)
}

// steps is what each layer adds to the one below, around zero.
func (r *htmlRenderer) steps(e *record.Effects, w workload, id string) {
	m := w.metricWord(w.Primary)
	f := chart.Forest{ID: id, Margin: e.Margin, Less: m.axis("axis.less"), More: m.axis("axis.more")}
	for _, arm := range w.Ladder {
		if x, ok := w.Step[key(w.Primary, arm)]; ok && !w.Real(arm) {
			f.Rows = append(f.Rows, r.in.drawn(arm, w.word(arm).adds, x, e.Margin))
		}
		if x, ok := w.Remainder[key(w.Primary, arm)]; ok && x.Baseline != w.Baseline {
			f.Rows = append(f.Rows, r.in.drawn(r.in.text("ladder.remainder"), r.in.text("ladder.beyond", "arm", x.Baseline), x, e.Margin))
		}
	}
	if len(f.Rows) > 1 {
		r.forest(r.in.text("figure.steps"), f)
	}
}

// latencies is the effects of the chosen arms on latencies and CPU time, with the levels.
func (r *htmlRenderer) latencies(w workload, chosen []string, id string) {
	f := chart.Forest{ID: id, Less: r.in.text("axis.fewer"), More: r.in.text("axis.greater")}
	for _, arm := range chosen {
		if len(chosen) > 1 {
			f.Rows = append(f.Rows, chart.Effect{Head: true, Label: export.Clean(arm)})
		}
		for _, m := range []catalogue.Metric{catalogue.P50, catalogue.P95, catalogue.P99, catalogue.CPUPerOp} {
			x, ok := w.Effect[key(m.Name, arm)]
			if !ok || m.Name == w.Primary {
				continue
			}
			row := r.in.drawn(r.in.static(m.Head), w.levels(m.Name, x), x, 0)
			row.Word = ""
			if w.noisy(m.Name) || w.InNoise(x) {
				row.Tone, row.Word = "unsure", r.in.text("page.noise")
			}
			f.Rows = append(f.Rows, row)
		}
	}
	r.forest(r.in.text("figure.latency", "arms", r.in.list(chosen), "baseline", w.Baseline), f)
}

// levels are the metric of the baseline and of the arm.
func (w workload) levels(metric string, x record.Effect) string {
	from, fromOK := w.Arm[x.Baseline].Values[metric].Get()
	to, toOK := w.Arm[x.Arm].Values[metric].Get()
	if !fromOK {
		return ""
	}
	show := w.metricWord(metric).show
	if !toOK || x.Typical == nil {
		return show(from)
	}
	return show(from) + " → " + show(to)
}
