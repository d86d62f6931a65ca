package report

import (
	"fmt"
	"slices"

	"github.com/tarelab/tare/record"
)

func aboutWorkload(w workload) string {
	s := w.Title
	if w.Blocks > 0 {
		if s != "" {
			s += ", "
		}
		s += plural(w.Blocks, "block")
		if w.Seconds > 0 {
			s += " in " + Duration(w.Seconds)
		}
	}
	return s
}

// The columns of the ladder.
const (
	colArm = iota
	colAdds
	colValue
	colEffect
	colStep
	colVerdict
	ladderColumns
)

// ladder is the table of arms bottom up, then those beside it, then the twin.
func ladder(e *record.Effects, w workload) block {
	if w.unmeasured() {
		return block{}
	}
	t := table{columns: []column{
		{head: "arm", flex: 12},
		{head: w.armHead(), flex: 15},
		{head: w.metricWord(w.Primary).head, align: right},
		{head: "against " + w.Baseline, align: interval},
		{head: "step", align: interval},
		{head: "verdict"},
	}}
	for _, arm := range w.ladder {
		t.rows = append(t.rows, w.row(e, arm))
		if x, ok := w.remainder[key{w.Primary, arm}]; ok && x.Baseline != w.Baseline { // or it is the effect again
			t.rows = append(t.rows, remainderRow(e, x))
		}
	}
	for _, arm := range w.beside {
		r := w.row(e, arm)
		if !w.imported {
			r[colStep] = cell{"beside", faint}
		}
		t.rows = append(t.rows, r)
	}
	for _, arm := range w.twins {
		t.rows = append(t.rows, w.twinRow(e, arm))
	}
	return block{
		forms: [][]table{
			{t.without(colsEmpty(t)...)},
			{t.without(colsEmpty(t)...).tightly()},
			{t.without(append(colsEmpty(t), colAdds)...)},
			{t.without(append(colsEmpty(t), colAdds)...).tightly()},
			{t.without(append(colsEmpty(t), colAdds, colValue)...)},
			{t.withoutSteps().without(append(colsEmpty(t), colAdds, colValue, colStep)...)},
		},
		notes: ladderNotes(e, w),
	}
}

func (w workload) row(e *record.Effects, arm string) row {
	r := make(row, ladderColumns)
	r[colArm] = cell{arm, strong}
	r[colAdds] = cell{w.word(arm).adds, plain}
	r[colValue] = w.value(arm, w.Primary)
	if arm == w.Baseline {
		r[colAdds] = cell{w.baselineWord(), faint}
		return r
	}
	if x, ok := w.primary(arm); ok {
		r[colEffect], r[colVerdict] = seenCell(x), verdictCell(x, e.Margin)
	} else {
		r[colEffect] = cell{none, faint}
	}
	if w.real(arm) {
		return r
	}
	if x, ok := w.step[key{w.Primary, arm}]; ok {
		r[colStep] = effectCell(x)
	}
	return r
}

// remainderRow has the verdict of the remainder itself.
func remainderRow(e *record.Effects, x record.Effect) row {
	r := make(row, ladderColumns)
	r[colArm] = cell{"  remainder", plain}
	r[colAdds] = cell{"beyond " + x.Baseline, plain}
	r[colStep], r[colVerdict] = effectCell(x), verdictCell(x, e.Margin)
	return r
}

// twinRow shows the noise floor: the twin has no step and no verdict unless
// it is a bad one.
func (w workload) twinRow(e *record.Effects, arm string) row {
	r := w.row(e, arm)
	r[colAdds] = cell{w.Baseline + " again", plain}
	r[colVerdict], r[colEffect].tone = cell{}, faint
	if w.NoiseFloor > 0 {
		r[colVerdict] = cell{"noise " + PlusMinus(w.NoiseFloor), faint}
	}
	if x, ok := w.primary(arm); ok && (x.Verdict == record.Cost || x.Verdict == record.Gain) {
		r[colVerdict], r[colEffect].tone = cell{"DIFFERS", broken}, broken
	}
	return r
}

func (w workload) value(arm, metric string) cell {
	v, ok := w.arm[arm].Values[metric]
	if !ok {
		return cell{none, faint}
	}
	x, known := v.Get()
	if !known {
		return cell{none, faint}
	}
	return cell{w.metricWord(metric).show(x), plain}
}

// ladderNotes explain what the table can only name.
func ladderNotes(e *record.Effects, w workload) []sentence {
	var notes []sentence
	for _, arm := range w.arms() {
		x, ok := w.primary(arm)
		if ok && x.Intermittent && x.Typical != nil {
			s := sentence{{arm + ": " + Interval(x.Typical), plain}}
			notes = append(notes, append(s, intermittent(x)...))
		}
	}
	notes = append(notes, undecidedNotes(e, w)...)
	notes = append(notes, reasonNotes(w)...)
	for _, arm := range w.arms() {
		if n := w.arm[arm].Errors; n > 0 {
			notes = append(notes, sentence{{arm + ": ", plain}, {fmt.Sprintf("%d operations failed", n), bad}, {".", plain}})
		}
	}
	return notes
}

// undecidedNotes tell what the undecided arms lack, in one line.
func undecidedNotes(e *record.Effects, w workload) []sentence {
	var arms []string
	var detectable, needed float64
	for _, arm := range append(slices.Clone(w.ladder), w.beside...) {
		x, ok := w.primary(arm)
		if !ok || x.Verdict != record.Undecided || x.Typical == nil {
			continue
		}
		arms = append(arms, arm)
		detectable, needed = max(detectable, x.Detectable), max(needed, x.Needed)
	}
	if len(arms) == 0 || detectable <= 0 && needed <= 0 {
		return nil
	}
	s := sentence{{"undecided", unsure}, {": " + list(arms) + ".", plain}}
	if detectable > 0 {
		s = append(s, cell{" This much data can show " + PlusMinus(detectable)[len("±"):] + " or more", plain})
		if needed > 0 {
			s = append(s, cell{";", plain})
		} else {
			s = append(s, cell{".", plain})
		}
	}
	if needed > 0 {
		what := size(e.Margin)
		if len(arms) > 1 {
			what += " for all of them"
		}
		s = append(s, cell{" about " + about(needed) + " more would decide " + what + ".", plain})
	}
	return []sentence{s}
}

// reasonNotes give the reasons why an arm has no answer.
func reasonNotes(w workload) []sentence {
	var reasons ordered
	arms := map[string][]string{}
	for _, arm := range w.arms() {
		x, ok := w.primary(arm)
		if !ok || x.Reason == "" || seen(x) && x.Verdict == record.Undecided || x.Typical != nil && x.Verdict != record.Invalid {
			continue
		}
		why := x.Verdict.String() + ": " + x.Reason
		reasons.add(why)
		arms[why] = append(arms[why], arm)
	}
	var notes []sentence
	for _, why := range reasons {
		notes = append(notes, say(list(arms[why])+" "+why+"."))
	}
	return notes
}

// without leaves columns out.
func (t table) without(columns ...int) table {
	var out table
	for i, c := range t.columns {
		if !slices.Contains(columns, i) {
			out.columns = append(out.columns, c)
		}
	}
	for _, r := range t.rows {
		var kept row
		for i, c := range r {
			if !slices.Contains(columns, i) {
				kept = append(kept, c)
			}
		}
		out.rows = append(out.rows, kept)
	}
	return out
}

// withoutSteps leaves out the rows that only have a step.
func (t table) withoutSteps() table {
	t.rows = slices.DeleteFunc(slices.Clone(t.rows), func(r row) bool {
		return r[colEffect].text == "" && r[colStep].text != ""
	})
	return t
}

func (t table) tightly() table {
	t.tight = true
	return t
}

// colsEmpty are the columns without any text in the rows.
func colsEmpty(t table) []int {
	var empty []int
	for i := range t.columns {
		if !slices.ContainsFunc(t.rows, func(r row) bool { return r[i].text != "" }) {
			empty = append(empty, i)
		}
	}
	return empty
}
