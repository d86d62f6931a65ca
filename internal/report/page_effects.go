package report

import (
	"html/template"
	"slices"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/internal/report/chart"
	"github.com/tarelab/tare/internal/report/export"
	"github.com/tarelab/tare/record"
)

// toneOf is the class of a chart's mark.
func toneOf(x record.Effect) string {
	if t := verdictCell(x, 0).tone; t != faint {
		return toneClass[t]
	}
	return "calm"
}

// drawn is an effect as a row of a forest.
func drawn(label string, x record.Effect, margin float64) chart.Effect {
	r := chart.Effect{Label: export.Clean(label), Text: quantity.Interval(x.Typical), Word: export.Clean(verdictCell(x, margin).text), Tone: toneOf(x)}
	if arrange.Seen(x) {
		return drawnSeen(r, x)
	}
	if x.Typical == nil {
		r.Tip = export.Clean(label + ": " + r.Word + because(x.Reason))
		return r
	}
	r.Known, r.Span = true, span(x.Typical)
	r.Tip = export.Clean(label + ": " + r.Text + ", " + r.Word)
	if x.Own != nil {
		own := span(x.Own)
		r.Own = &own
		r.Tip += text("tip.alone", "effect", quantity.Interval(x.Own))
	}
	if x.Total != nil && x.Intermittent {
		total := x.Total.Ratio - 1
		r.Total = &total
		r.Tip += text("tip.total", "effect", quantity.Interval(x.Total))
	}
	return r
}

func span(r *record.Ratio) chart.Span {
	return chart.Span{Mid: r.Ratio - 1, Low: r.Low - 1, High: r.High - 1}
}

// tickOf prints a change on an axis without needless zeros.
func tickOf(x float64) string {
	s := quantity.Change(1+x, 1)
	if len(s) > 2 && s[len(s)-2:] == ".0" {
		s = s[:len(s)-2]
	}
	if s == "0.0" || s == "" {
		s = "0"
	}
	return quantity.WithUnit(s, "%")
}

// axis is a message about an end of an axis: what it means for this metric.
func (m metric) axis(key messages.Key) string { return text(key, "metric", export.Clean(m.head)) }

// answerFigure is the effect that was asked for in every workload.
func answerFigure(e *record.Effects, ws []workload) *figure {
	f := chart.Forest{Margin: e.Margin, Tick: tickOf, Less: text("axis.fewer"), More: text("axis.greater")}
	f.Frame = chart.Frame{ID: "answer-chart", Title: text("figure.answer")}
	heads, subjects := map[string]bool{}, map[string]bool{}
	for _, w := range ws {
		if found, ok := foremost(loadAnswer(e, w.Name)); ok {
			heads[w.metricWord(found.Effect.Metric).head] = true
			subjects[w.subject(found)] = true
			f.Title = export.Clean(text("figure.answer.of", "subject", w.subject(found)))
		}
	}
	if len(subjects) > 1 {
		f.Title = text("figure.answer")
	}
	for _, w := range ws {
		found, ok := foremost(loadAnswer(e, w.Name))
		if !ok {
			continue
		}
		subject, x := w.subject(found), found.Effect
		label := w.Name
		if len(subjects) > 1 {
			label += ", " + x.Arm
		}
		if len(heads) > 1 {
			label += ", " + w.metricWord(x.Metric).head
		} else if m := w.metricWord(x.Metric).head; f.Less == text("axis.fewer") {
			f.Less, f.More = text("axis.less", "metric", m), text("axis.more", "metric", m)
		}
		r := drawn(label, x, e.Margin)
		f.Rows = append(f.Rows, r)
		f.Desc += export.Clean(w.Name+", "+subject+": "+r.Text+", "+r.Word) + ". "
	}
	if !anyKnown(f.Rows) {
		return nil
	}
	return &figure{ID: "answer", Title: f.Title, Drawing: chart.Both(f.Draw),
		Caption: []string{text("figure.answer.key", "margin", quantity.PlusMinus(e.Margin)) + " " + forestKeyOf(f)}}
}

// anyKnown says that there is something to draw.
func anyKnown(rows []chart.Effect) bool {
	return slices.ContainsFunc(rows, func(r chart.Effect) bool { return r.Known })
}

// forestFigure is the effects of all arms on the primary metric.
func forestFigure(e *record.Effects, w workload, id string) *figure {
	m := w.metricWord(w.Primary)
	f := chart.Forest{Margin: e.Margin, Noise: w.NoiseFloor, Tick: tickOf, Less: m.axis("axis.less"), More: m.axis("axis.more")}
	f.Frame = chart.Frame{ID: id + "-effects", Title: export.Clean(text("figure.effects", "metric", m.of, "baseline", w.Baseline))}
	for _, arm := range w.Arms() {
		x, ok := w.PrimaryOf(arm)
		if !ok {
			continue
		}
		r := drawn(arm, x, e.Margin)
		if isTwin(w, arm) {
			t := w.twinRow(e, arm)
			r.Word, r.Tone = t[colVerdict].text, toneClass[t[colEffect].tone]
		}
		f.Rows = append(f.Rows, r)
		f.Desc += export.Clean(arm+": "+r.Text+", "+r.Word) + ". "
	}
	if w.Unmeasured() || !anyKnown(f.Rows) {
		return nil
	}
	caption := text("figure.margin", "margin", quantity.PlusMinus(e.Margin))
	if w.NoiseFloor > 0 {
		caption += " " + text("figure.noise", "noise", quantity.PlusMinus(w.NoiseFloor))
	}
	out := &figure{ID: f.ID, Title: f.Title, Drawing: chart.Both(f.Draw), Caption: []string{caption + " " + forestKeyOf(f)},
		Tables: ladder(e, w).forms[0], Data: effectsData(e, w), File: fileName(w, "effects")}
	return out
}

func isTwin(w workload, arm string) bool {
	return slices.Contains(w.Twins, arm)
}

// waterfallFigure is the ladder: what each rung adds, and the remainder.
func waterfallFigure(e *record.Effects, w workload, id string) *figure {
	m := w.metricWord(w.Primary)
	f := chart.Waterfall{Tick: tickOf, Less: m.axis("axis.less"), More: m.axis("axis.more")}
	f.Frame = chart.Frame{ID: id + "-ladder", Title: text("figure.ladder")}
	known := false
	for _, arm := range w.Ladder {
		x, real := w.Remainder[key(w.Primary, arm)]
		if !real {
			var ok bool
			if x, ok = w.Step[key(w.Primary, arm)]; !ok {
				continue
			}
		}
		s := w.stepOf(arm, x, real, e.Margin)
		known = known || s.Known
		f.Steps = append(f.Steps, s)
		f.Desc += export.Clean(s.Label+": "+s.Text+", "+verdictWord(x.Verdict)) + ". "
	}
	if !known || len(f.Steps) < 2 {
		return nil
	}
	if top := w.Top(); top != "" {
		x, _ := w.PrimaryOf(top)
		s := chart.Step{Label: text("figure.together"), Note: export.Clean(text("figure.all", "arm", top)), Text: quantity.Interval(x.Typical), Tone: toneOf(x), Sum: true}
		if x.Typical != nil {
			t := span(x.Typical)
			s.Known, s.To, s.Low, s.High = true, t.Mid, t.Low, t.High
		}
		f.Steps = append(f.Steps, s)
		f.Desc += s.Label + ": " + export.Clean(s.Text) + "."
	}
	return &figure{ID: f.ID, Title: f.Title, Drawing: chart.Both(f.Draw), Caption: []string{
		text("figure.ladder.key")},
		Tables: ladder(e, w).forms[0]}
}

func (w workload) stepOf(arm string, x record.Effect, real bool, margin float64) chart.Step {
	s := chart.Step{Label: export.Clean(arm), Note: export.Clean(w.word(arm).adds), Text: quantity.Interval(x.Typical), Tone: toneOf(x)}
	if real {
		s.Label, s.Note = text("ladder.remainder"), export.Clean(text("ladder.beyond", "arm", x.Baseline))
	}
	s.Tip = export.Clean(s.Label + ": " + s.Text + ", " + verdictCell(x, margin).text)
	from := 1.0
	if x.Baseline != w.Baseline {
		below, ok := w.PrimaryOf(x.Baseline)
		if !ok || below.Typical == nil {
			return s
		}
		from = below.Typical.Ratio
	}
	to, ok := w.PrimaryOf(arm)
	if x.Typical == nil || !ok || to.Typical == nil {
		return s
	}
	s.Known, s.From, s.To = true, from-1, to.Typical.Ratio-1
	s.Low, s.High = from*x.Typical.Low-1, from*x.Typical.High-1
	return s
}

// effectsData is the effects of one workload as CSV.
func effectsData(e *record.Effects, w workload) template.URL {
	of := func(list []record.Effect) (out []record.Effect) {
		for _, x := range list {
			if x.Workload == w.Name {
				out = append(out, x)
			}
		}
		return out
	}
	some := *e
	some.Prices = pricesOf(e, w.Name)
	some.Effects, some.Steps, some.Remainder, some.Twin = of(e.Effects), of(e.Steps), of(e.Remainder), of(e.Twin)
	return dataURL(func(b *csvBuffer) error { return export.CSV(&b.Buffer, &some) })
}
