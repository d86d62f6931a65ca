package report

import (
	"slices"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/record"
)

func aboutWorkload(w workload) string {
	s := w.Title
	if w.Blocks > 0 {
		if s != "" {
			s += ", "
		}
		if w.Seconds > 0 {
			s += text("about.blocks", "blocks", number("count.blocks", w.Blocks), "time", quantity.Duration(w.Seconds))
		} else {
			s += number("count.blocks", w.Blocks)
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
	if w.Unmeasured() {
		return block{}
	}
	t := table{columns: []column{
		{head: text("head.arm"), flex: 12},
		{head: w.armHead(), flex: 15, drop: 1},
		{head: w.metricWord(w.Primary).head, align: right, drop: 2},
		{head: text("head.against", "baseline", w.Baseline), align: interval},
		{head: text("head.step"), align: interval},
		{head: text("head.verdict")},
	}}
	for _, arm := range w.Ladder {
		t.rows = append(t.rows, w.row(e, arm))
		if x, ok := w.Remainder[key(w.Primary, arm)]; ok && x.Baseline != w.Baseline { // or it is the effect again
			t.rows = append(t.rows, remainderRow(e, x))
		}
	}
	for _, arm := range w.Beside {
		r := w.row(e, arm)
		if !w.Imported {
			r[colStep] = cell{text("ladder.beside"), faint}
		}
		t.rows = append(t.rows, r)
	}
	for _, arm := range w.Twins {
		t.rows = append(t.rows, w.twinRow(e, arm))
	}
	return block{tables: []table{t.filled()}, notes: ladderNotes(e, w)}
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
	if x, ok := w.PrimaryOf(arm); ok {
		r[colEffect], r[colVerdict] = seenCell(x), verdictCell(x, e.Margin)
	} else {
		r[colEffect] = cell{none, faint}
	}
	if w.Real(arm) {
		return r
	}
	if x, ok := w.Step[key(w.Primary, arm)]; ok {
		r[colStep] = effectCell(x)
	}
	return r
}

// remainderRow has the verdict of the remainder itself.
func remainderRow(e *record.Effects, x record.Effect) row {
	r := make(row, ladderColumns)
	r[colArm] = cell{"  " + text("ladder.remainder"), plain}
	r[colAdds] = cell{text("ladder.beyond", "arm", x.Baseline), plain}
	r[colStep], r[colVerdict] = effectCell(x), verdictCell(x, e.Margin)
	return r
}

// twinRow shows the noise floor: the twin has no step and no verdict unless
// it is a bad one.
func (w workload) twinRow(e *record.Effects, arm string) row {
	r := w.row(e, arm)
	r[colAdds] = cell{text("ladder.again", "baseline", w.Baseline), plain}
	r[colVerdict], r[colEffect].tone = cell{}, faint
	if w.NoiseFloor > 0 {
		r[colVerdict] = cell{text("ladder.noise", "noise", quantity.PlusMinus(w.NoiseFloor)), faint}
	}
	if x, ok := w.PrimaryOf(arm); ok && (x.Verdict == record.Cost || x.Verdict == record.Gain) {
		r[colVerdict], r[colEffect].tone = cell{text("ladder.differs"), broken}, broken
	}
	return r
}

func (w workload) value(arm, metric string) cell {
	v, ok := w.Arm[arm].Values[metric]
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
	for _, arm := range w.Arms() {
		x, ok := w.PrimaryOf(arm)
		if ok && x.Intermittent && x.Typical != nil {
			notes = append(notes, joined("; ", sentence{{arm + ": " + quantity.Interval(x.Typical), plain}}, burstTail(x)))
		}
	}
	notes = append(notes, launchesNotes(w)...)
	notes = append(notes, undecidedNotes(e, w)...)
	notes = append(notes, unjudgedNotes(w)...)
	notes = append(notes, reasonNotes(w)...)
	for _, arm := range w.Arms() {
		if n := w.Arm[arm].Errors; n > 0 {
			notes = append(notes, msg("ladder.failed", "arm", arm, "n", n))
		}
	}
	return notes
}

// burstTail is the clause on an intermittent loss, with the total effect.
func burstTail(x record.Effect) sentence {
	if !x.Intermittent || x.Typical == nil {
		return nil
	}
	s := msg("tail.bursts.some")
	if x.Slow > 0 {
		s = msg("tail.bursts", "slow", quantity.Share(x.Slow))
	}
	if x.Total == nil {
		return s
	}
	return joined("; ", s, msg("tail.total", "effect", quantity.Interval(x.Total)))
}

// launchesNotes name the arms that have too few launches for a verdict.
func launchesNotes(w workload) (notes []sentence) {
	var few arrange.Grouped[string]
	last := map[string]record.Effect{} // by reason
	for _, arm := range append(slices.Clone(w.Ladder), w.Beside...) {
		if x, ok := w.PrimaryOf(arm); ok && w.FewLaunches(x) {
			few.Add(x.Reason, arm)
			last[x.Reason] = x
		}
	}
	for reason, arms := range few.All() {
		notes = append(notes, msg("open.launches", "arms", list(arms), "reason", reason, "time", quantity.About(w.MoreLaunches(last[reason]))))
	}
	return notes
}

// undecidedNotes tell what the undecided arms lack, in one line.
func undecidedNotes(e *record.Effects, w workload) []sentence {
	var arms []string
	var detectable, needed float64
	for _, arm := range append(slices.Clone(w.Ladder), w.Beside...) {
		x, ok := w.PrimaryOf(arm)
		if !ok || x.Verdict != record.Undecided || x.Typical == nil || x.Unjudged || w.FewLaunches(x) {
			continue
		}
		arms = append(arms, arm)
		detectable, needed = max(detectable, x.Detectable), max(needed, x.Needed)
	}
	if len(arms) == 0 || detectable <= 0 && needed <= 0 {
		return nil
	}
	var tails []sentence
	if detectable > 0 {
		tails = append(tails, detectableNote(w, detectable))
	}
	switch {
	case needed > 0 && len(arms) > 1:
		tails = append(tails, msg("open.needed.all", "time", quantity.About(needed), "margin", quantity.Size(e.Margin)))
	case needed > 0:
		tails = append(tails, msg("tail.more", "time", quantity.About(needed), "margin", quantity.Size(e.Margin)))
	}
	return []sentence{joined(" ", msg("open.arms", "arms", list(arms)), capital(append(joined("; ", tails...), cell{".", plain}), ""))}
}

// detectableNote says how large a loss would be seen: a cost as the judged metric shows it.
func detectableNote(w workload, detectable float64) sentence {
	key := messages.Key("open.detectable")
	if w.metricWord(w.Primary).more {
		key, detectable = "open.detectable.loss", detectable/(1+detectable)
	}
	return msg(key, "size", quantity.PlusMinus(detectable)[len("±"):])
}

// unjudgedNotes name, for each metric that is judged, the arms that are not.
func unjudgedNotes(w workload) (notes []sentence) {
	for _, m := range w.Judged {
		var arms []string
		for _, arm := range append(slices.Clone(w.Ladder), w.Beside...) {
			if w.Effect[key(m, arm)].Unjudged {
				arms = append(arms, arm)
			}
		}
		if len(arms) > 0 {
			notes = append(notes, msg("open.unjudged", "metric", w.metricWord(m).of, "arms", list(arms), "question", w.Question))
		}
	}
	return notes
}

// reasonNotes give the reasons why an arm has no answer.
func reasonNotes(w workload) []sentence {
	var reasons arrange.Grouped[string]
	for _, arm := range w.Arms() {
		x, ok := w.PrimaryOf(arm)
		if !ok || x.Reason == "" || arrange.Seen(x) && x.Verdict == record.Undecided || x.Typical != nil && x.Verdict != record.Invalid {
			continue
		}
		reasons.Add(verdictWord(x.Verdict)+": "+x.Reason, arm)
	}
	var notes []sentence
	for why, arms := range reasons.All() {
		notes = append(notes, say(list(arms)+" "+why+"."))
	}
	return notes
}
