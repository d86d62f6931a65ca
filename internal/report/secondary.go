package report

import (
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
		b.title = in.text("others.title.of", "baseline", w.Baseline, "marks", in.otherMarks(w))
	}
	b.tables = []table{w.others(metrics)}
	b.notes = w.untold(others)
	return b
}

// untold gives the reasons why metrics have no number in any arm.
func (w workload) untold(metrics []string) []sentence {
	var reasons arrange.Grouped[string]
	for _, m := range metrics {
		for _, arm := range w.Arms() {
			x := w.Effect[key(m, arm)]
			if w.told(m) || x.Reason == "" {
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
	t := table{panel: 1, columns: []column{{head: w.in.text("head.arm"), flex: 12}}}
	for _, m := range metrics {
		head := w.metricWord(m).head
		if w.noisy(m) {
			head += markNoise
		} else {
			head += " "
		}
		t.columns = append(t.columns, column{head: head, align: right})
	}
	for _, arm := range w.Arms() {
		r := row{{arm, plain}}
		for _, m := range metrics {
			r = append(r, w.other(arm, m))
		}
		t.rows = append(t.rows, r)
	}
	return t
}

// other ends in a star or in a space, so that the numbers line up.
func (w workload) other(arm, metric string) cell {
	if arm == w.Baseline {
		c := w.value(arm, metric)
		c.text += " "
		return c
	}
	x, ok := w.Effect[key(metric, arm)]
	if arrange.Seen(x) {
		return cell{quantity.Change(x.Observed, 1) + " ", unsure}
	}
	if !ok || x.Typical == nil {
		return cell{none + " ", faint}
	}
	if x.Unequal != "" {
		return cell{around(x.Typical) + "≠", unsure}
	}
	switch {
	case w.InNoise(x), w.noisy(metric) && (arrange.Moved(x) || x.Noisy):
		return cell{around(x.Typical) + markNoise, unsure}
	case x.Verdict == record.Cost, x.Verdict == record.Gain:
		return cell{around(x.Typical) + markMoved, verdictTone(x.Verdict)}
	case x.Verdict == record.Undecided:
		return cell{around(x.Typical) + " ", plain}
	}
	return cell{around(x.Typical) + " ", faint}
}

// noisy reports whether a twin differs from its baseline in a metric: the column is noise.
func (w workload) noisy(metric string) bool {
	return slices.ContainsFunc(w.Twins, func(arm string) bool { return w.Effect[key(metric, arm)].Noisy })
}

// lopsided is how many times wider one side of an interval is where ± would mislead: a loss
// of 12 % is not ±244 %.
const lopsided = 1.3

// around is an effect with the half-width of its interval, "+3.1 ±1.2", or with its bounds
// where one side is much wider: "-12 [-54, +70]".
func around(r *record.Ratio) string {
	above, below := r.High-r.Ratio, r.Ratio-r.Low
	half := max(above, below)
	switch {
	case !quantity.Finite(half):
		return quantity.Change(r.Ratio, 1)
	case half >= 0.1 && half > lopsided*min(above, below):
		return quantity.Change(r.Ratio, 0) + " " + quantity.Bounds(r.Low, r.High, 0)
	}
	return quantity.Change(r.Ratio, 1) + " ±" + quantity.Unsigned(quantity.Change(1+max(half, 0), 1))
}

// otherMarks explains the marks that are used.
func (in Language) otherMarks(w workload) string {
	marks := in.text("others.moved")
	inNoise, noisy, unequal := false, false, false
	for k, x := range w.Effect {
		if k.Metric != w.Primary {
			inNoise, noisy, unequal = inNoise || w.InNoise(x), noisy || x.Noisy, unequal || x.Unequal != ""
		}
	}
	switch {
	case noisy:
		marks = in.semicolons(marks, in.text("others.noise"))
	case inNoise:
		marks = in.semicolons(marks, in.text("mark.noise"))
	}
	if unequal {
		marks = in.semicolons(marks, in.text("others.unequal"))
	}
	return marks
}
