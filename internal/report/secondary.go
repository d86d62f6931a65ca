package report

import (
	"math"
	"slices"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/record"
)

// secondary is the table of the metrics that are not the primary one: the
// baseline in its own unit, the other arms as a change in percent.
func (in Language) secondary(w workload) block {
	others := w.Metrics[min(1, len(w.Metrics)):]
	metrics := slices.DeleteFunc(slices.Clone(others), func(m string) bool { return !w.told(m) })
	if len(metrics) == 0 {
		return block{}
	}
	b := block{title: in.text("others.title", "baseline", w.Baseline)}
	switch {
	case w.Alone():
		b.title = in.text("alone.others")
	case !w.onlySeen():
		b.title = in.text("others.title.of", "baseline", w.Baseline)
	}
	b.tables = []table{w.others(metrics)}
	b.notes = w.untold(others)
	return b
}

// untold gives the reasons why metrics have no number in any arm.
func (w workload) untold(metrics []string) []sentence {
	var reasons arrange.Grouped[record.Said]
	for _, m := range metrics {
		for _, arm := range w.Arms() {
			x := w.Effect[key(m, arm)]
			if w.told(m) || x.Reason.IsZero() {
				continue
			}
			reasons.Add(x.Reason, w.metricWord(m).head)
		}
	}
	var notes []sentence
	for why, named := range reasons.All() {
		notes = append(notes, sentence{{none + " " + w.in.colon(w.in.list(named), w.in.said(why)), faint}})
	}
	return notes
}

// told says that there is a number of a metric in any arm.
func (w workload) told(metric string) bool {
	return slices.ContainsFunc(w.Arms(), func(arm string) bool {
		x := w.Effect[key(metric, arm)]
		return w.value(arm, metric).text != none || x.Typical != nil || arrange.Seen(x)
	})
}

func (w workload) others(metrics []string) table {
	t := table{panel: 1, columns: []column{{head: w.in.text("head.arm"), flex: 12}}, star: "others.moved"}
	for _, m := range metrics {
		c := column{head: w.metricWord(m).head, align: right}
		if w.noisy(m) {
			c.mark = inNoise
		}
		t.columns = append(t.columns, c)
	}
	for _, arm := range w.Arms() {
		r := row{cell{arm, plain}}
		for _, m := range metrics {
			r = append(r, w.other(arm, m))
		}
		t.rows = append(t.rows, r)
	}
	return t
}

// other is the change of a metric in an arm, and the level of the baseline.
func (w workload) other(arm, metric string) entry {
	if arm == w.Baseline {
		return w.value(arm, metric)
	}
	x, ok := w.Effect[key(metric, arm)]
	switch {
	case arrange.Seen(x):
		return cell{quantity.Change(x.Observed, 1), unsure}
	case !ok || x.Typical == nil:
		return cell{none, faint}
	}
	f := figure{cell: cell{tone: plain}, mark: w.markOf(&x)}
	switch f.text, f.rest = around(x.Typical); {
	case f.mark == unequal, f.mark == inNoise:
		f.tone = unsure
	case f.mark == moved:
		f.tone = verdictTone(x.Verdict)
	case x.Verdict != record.Undecided:
		f.tone = faint
	}
	return f
}

// noisy reports whether a twin differs from its baseline in a metric: the column is noise.
func (w workload) noisy(metric string) bool {
	return slices.ContainsFunc(w.Twins, func(arm string) bool { return w.Effect[key(metric, arm)].Noisy })
}

// around is an effect and the half-width of its interval, "+3.1" and "±1.2", or its bounds where the two sides differ
// by more than a percentage point: "-12" and "[-54, +70]".
func around(r *record.Ratio) (estimate, rest string) {
	const point = 0.01
	above, below := r.High-r.Ratio, r.Ratio-r.Low
	half, digits := max(above, below), 1
	if half >= 0.1 {
		digits = 0
	}
	switch {
	case !quantity.Finite(half):
		return quantity.Change(r.Ratio, 1), ""
	case math.Abs(above-below) > point:
		return quantity.Change(r.Ratio, digits), quantity.Bounds(r.Low, r.High, digits)
	}
	return quantity.Change(r.Ratio, 1), "±" + quantity.Unsigned(quantity.Change(1+max(half, 0), 1))
}
