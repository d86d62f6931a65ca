package report

import (
	"slices"

	"github.com/tarelab/tare/record"
)

// secondary is the table of the metrics that are not the primary one: the
// baseline in its own unit, the other arms as a change in percent.
func secondary(w workload) block {
	others := w.metrics[min(1, len(w.metrics)):]
	metrics := slices.DeleteFunc(slices.Clone(others), func(m string) bool { return !w.told(m) })
	if len(metrics) == 0 {
		return block{}
	}
	b := block{title: "other metrics, change against " + w.Baseline + " in %"}
	if !w.onlySeen() {
		b.title += " (exploratory; * decided at 10 % false discovery rate" + unequalNote(w) + ")"
	}
	for per := len(metrics); per > 0; per-- {
		var form []table
		for part := range slices.Chunk(metrics, per) {
			form = append(form, w.others(part))
		}
		b.forms = append(b.forms, form)
	}
	b.notes = w.untold(others)
	return b
}

// untold gives the reasons why metrics have no number in any arm.
func (w workload) untold(metrics []string) []sentence {
	var reasons ordered
	named := map[string]*ordered{}
	for _, m := range metrics {
		for _, arm := range w.arms() {
			x := w.effect[key{m, arm}]
			if w.told(m) || x.Reason == "" {
				continue
			}
			if named[x.Reason] == nil {
				named[x.Reason] = &ordered{}
				reasons.add(x.Reason)
			}
			named[x.Reason].add(w.metricWord(m).head)
		}
	}
	var notes []sentence
	for _, why := range reasons {
		notes = append(notes, sentence{{none + " " + list(*named[why]) + ": " + why, faint}})
	}
	return notes
}

// told says that there is a number of a metric in any arm.
func (w workload) told(metric string) bool {
	return slices.ContainsFunc(w.arms(), func(arm string) bool {
		x := w.effect[key{metric, arm}]
		return w.value(arm, metric).text != none || x.Typical != nil || seen(x)
	})
}

func (w workload) others(metrics []string) table {
	t := table{columns: []column{{head: "arm", flex: 12}}}
	for _, m := range metrics {
		t.columns = append(t.columns, column{head: w.metricWord(m).head + " ", align: right})
	}
	for _, arm := range w.arms() {
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
	x, ok := w.effect[key{metric, arm}]
	if seen(x) {
		return cell{change(x.Observed, 1) + " ", unsure}
	}
	if !ok || x.Typical == nil {
		return cell{none + " ", faint}
	}
	if x.Unequal != "" {
		return cell{around(x.Typical) + "≠", unsure}
	}
	switch x.Verdict {
	case record.Cost, record.Gain:
		return cell{around(x.Typical) + "*", verdictTone(x.Verdict)}
	case record.Undecided:
		return cell{around(x.Typical) + " ", plain}
	}
	return cell{around(x.Typical) + " ", faint}
}

// around is an effect with the wider side of its interval: "+3.1 ±1.2".
func around(r *record.Ratio) string {
	half := max(r.High-r.Ratio, r.Ratio-r.Low)
	if !finite(half) {
		return change(r.Ratio, 1)
	}
	return change(r.Ratio, 1) + " ±" + unsigned(change(1+max(half, 0), 1))
}

// unequalNote explains the mark where it is used.
func unequalNote(w workload) string {
	for _, x := range w.effect {
		if x.Unequal != "" {
			return "; ≠ " + unequal + " arm"
		}
	}
	return ""
}
