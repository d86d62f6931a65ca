package report

import (
	"html/template"
	"slices"

	"github.com/tarelab/tare/internal/report/chart"
	"github.com/tarelab/tare/record"
)

// toneOf is the class of a chart's mark.
func toneOf(x record.Effect) string {
	switch c := verdictCell(x, 0); {
	case c.tone == faint:
		return "calm"
	default:
		return toneClass[c.tone]
	}
}

// drawn is an effect as a row of a forest.
func drawn(label string, x record.Effect, margin float64) chart.Effect {
	r := chart.Effect{Label: clean(label), Text: Interval(x.Typical), Word: clean(verdictCell(x, margin).text), Tone: toneOf(x)}
	if seen(x) {
		return drawnSeen(r, x)
	}
	if x.Typical == nil {
		r.Tip = clean(label + ": " + r.Word + because(x.Reason))
		return r
	}
	r.Known, r.Span = true, span(x.Typical)
	r.Tip = clean(label + ": " + r.Text + ", " + r.Word)
	if x.Own != nil {
		own := span(x.Own)
		r.Own = &own
		r.Tip += "; looked at alone " + Interval(x.Own)
	}
	if x.Total != nil && x.Intermittent {
		total := x.Total.Ratio - 1
		r.Total = &total
		r.Tip += "; all windows together " + Interval(x.Total)
	}
	return r
}

func span(r *record.Ratio) chart.Span {
	return chart.Span{Mid: r.Ratio - 1, Low: r.Low - 1, High: r.High - 1}
}

// tickOf prints a change on an axis without needless zeros.
func tickOf(x float64) string {
	s := change(1+x, 1)
	if len(s) > 2 && s[len(s)-2:] == ".0" {
		s = s[:len(s)-2]
	}
	if s == "0.0" || s == "" {
		s = "0"
	}
	return withUnit(s, "%")
}

// forestKey explains the marks of a forest.
const forestKey = "Dot: estimate; thick line: its 95 % interval looked at alone; thin line: corrected for all arms. " +
	"A hollow dot is undecided. An arrow leaves the picture."

// answerFigure is the effect that was asked for in every workload.
func answerFigure(e *record.Effects, ws []workload) *figure {
	f := chart.Forest{Margin: e.Margin, Tick: tickOf, Less: "less", More: "more"}
	f.Frame = chart.Frame{ID: "answer-chart", Title: "Effect in every workload"}
	heads, subjects := map[string]bool{}, map[string]bool{}
	for _, w := range ws {
		if subject, x, ok := asked(e, w); ok {
			heads[w.metricWord(x.Metric).head] = true
			subjects[subject] = true
			f.Title = clean("Effect of " + subject + " in every workload")
		}
	}
	if len(subjects) > 1 {
		f.Title = "Effect in every workload"
	}
	for _, w := range ws {
		subject, x, ok := asked(e, w)
		if !ok {
			continue
		}
		label := w.Name
		if len(subjects) > 1 {
			label += ", " + subject
		}
		if len(heads) > 1 {
			label += ", " + w.metricWord(x.Metric).head
		} else if m := w.metricWord(x.Metric).head; f.Less == "less" {
			f.Less, f.More = "less "+m, "more "+m
		}
		r := drawn(label, x, e.Margin)
		f.Rows = append(f.Rows, r)
		f.Desc += clean(w.Name+", "+subject+": "+r.Text+", "+r.Word) + ". "
	}
	if !anyKnown(f.Rows) {
		return nil
	}
	return &figure{ID: "answer", Title: f.Title, Drawing: chart.Both(f.Draw),
		Caption: []string{"Change against the baseline. Shaded: the margin of " + PlusMinus(e.Margin) + ", smaller effects do not matter to you. " + forestKeyOf(f)}}
}

// anyKnown says that there is something to draw.
func anyKnown(rows []chart.Effect) bool {
	return slices.ContainsFunc(rows, func(r chart.Effect) bool { return r.Known })
}

// forestFigure is the effects of all arms on the primary metric.
func forestFigure(e *record.Effects, w workload, id string) *figure {
	m := w.metricWord(w.Primary)
	f := chart.Forest{Margin: e.Margin, Noise: w.NoiseFloor, Tick: tickOf, Less: "less " + clean(m.head), More: "more " + clean(m.head)}
	f.Frame = chart.Frame{ID: id + "-effects", Title: clean("Effects on " + m.of + ", against " + w.Baseline)}
	for _, arm := range w.arms() {
		x, ok := w.primary(arm)
		if !ok {
			continue
		}
		r := drawn(arm, x, e.Margin)
		if isTwin(w, arm) {
			t := w.twinRow(e, arm)
			r.Word, r.Tone = t[colVerdict].text, toneClass[t[colEffect].tone]
		}
		f.Rows = append(f.Rows, r)
		f.Desc += clean(arm+": "+r.Text+", "+r.Word) + ". "
	}
	if w.unmeasured() || !anyKnown(f.Rows) {
		return nil
	}
	caption := "Shaded: the margin of " + PlusMinus(e.Margin) + "."
	if w.NoiseFloor > 0 {
		caption += " Dotted: the noise floor of " + PlusMinus(w.NoiseFloor) + ", what the host differs from itself."
	}
	out := &figure{ID: f.ID, Title: f.Title, Drawing: chart.Both(f.Draw), Caption: []string{caption + " " + forestKeyOf(f)},
		Tables: ladder(e, w).forms[0], Data: effectsData(e, w), File: fileName(w, "effects")}
	return out
}

func isTwin(w workload, arm string) bool {
	for _, t := range w.twins {
		if t == arm {
			return true
		}
	}
	return false
}

// waterfallFigure is the ladder: what each rung adds, and the remainder.
func waterfallFigure(e *record.Effects, w workload, id string) *figure {
	m := w.metricWord(w.Primary)
	f := chart.Waterfall{Tick: tickOf, Less: "less " + clean(m.head), More: "more " + clean(m.head)}
	f.Frame = chart.Frame{ID: id + "-ladder", Title: "The ladder: what each layer adds"}
	known := false
	for _, arm := range w.ladder {
		x, real := w.remainder[key{w.Primary, arm}]
		if !real {
			var ok bool
			if x, ok = w.step[key{w.Primary, arm}]; !ok {
				continue
			}
		}
		s := w.stepOf(arm, x, real, e.Margin)
		known = known || s.Known
		f.Steps = append(f.Steps, s)
		f.Desc += clean(s.Label+": "+s.Text+", "+x.Verdict.String()) + ". "
	}
	if !known || len(f.Steps) < 2 {
		return nil
	}
	if top := w.top(); top != "" {
		x, _ := w.primary(top)
		s := chart.Step{Label: "together", Note: clean("all of " + top), Text: Interval(x.Typical), Tone: toneOf(x), Sum: true}
		if x.Typical != nil {
			t := span(x.Typical)
			s.Known, s.To, s.Low, s.High = true, t.Mid, t.Low, t.High
		}
		f.Steps = append(f.Steps, s)
		f.Desc += "Together: " + clean(s.Text) + "."
	}
	return &figure{ID: f.ID, Title: f.Title, Drawing: chart.Both(f.Draw), Caption: []string{
		"Each bar begins where the one above it ends; the line is the 95 % interval of the step. The remainder is what the real container" +
			" does beyond the top hand-made layer. A pale bar is undecided. Its numbers are in the data of the effects."},
		Tables: ladder(e, w).forms[0]}
}

func (w workload) stepOf(arm string, x record.Effect, real bool, margin float64) chart.Step {
	s := chart.Step{Label: clean(arm), Note: clean(w.word(arm).adds), Text: Interval(x.Typical), Tone: toneOf(x)}
	if real {
		s.Label, s.Note = "remainder", clean("beyond "+x.Baseline)
	}
	s.Tip = clean(s.Label + ": " + s.Text + ", " + verdictCell(x, margin).text)
	from := 1.0
	if x.Baseline != w.Baseline {
		below, ok := w.primary(x.Baseline)
		if !ok || below.Typical == nil {
			return s
		}
		from = below.Typical.Ratio
	}
	to, ok := w.primary(arm)
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
	some.Effects, some.Steps, some.Remainder, some.Twin = of(e.Effects), of(e.Steps), of(e.Remainder), of(e.Twin)
	return dataURL(func(b *csvBuffer) error { return CSV(&b.Buffer, &some) })
}
