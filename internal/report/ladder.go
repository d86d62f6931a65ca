package report

import (
	"slices"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/record"
)

func (in Language) aboutWorkload(w workload) string {
	s := in.said(w.Title)
	if w.Blocks > 0 {
		blocks := in.number("count.blocks", w.Blocks)
		if w.Seconds > 0 {
			blocks = in.text("about.blocks", "blocks", blocks, "time", quantity.Duration(w.Seconds))
		}
		s = in.commas(s, blocks)
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
func (in Language) ladder(e *record.Effects, w workload) block {
	if w.Unmeasured() {
		return block{}
	}
	t := table{columns: []column{
		{head: in.text("head.arm"), flex: 12},
		{head: w.armHead(), flex: 15, drop: 1},
		{head: w.metricWord(w.Primary).head, align: right, drop: 2},
		{head: in.text("head.against", "baseline", w.Baseline), align: interval},
		{head: in.text("head.step"), align: interval},
		{head: in.text("head.verdict")},
	}}
	for _, arm := range w.Ladder {
		t.rows = append(t.rows, w.row(e, arm))
		if x, ok := w.Remainder[key(w.Primary, arm)]; ok && x.Baseline != w.Baseline { // or it is the effect again
			t.rows = append(t.rows, in.remainderRow(e, x))
		}
	}
	for _, arm := range w.Beside {
		r := w.row(e, arm)
		if !w.Imported {
			r[colStep] = cell{in.text("ladder.beside"), faint}
		}
		t.rows = append(t.rows, r)
	}
	for _, arm := range w.Twins {
		t.rows = append(t.rows, w.twinRow(e, arm))
	}
	return block{tables: []table{t.filled()}, notes: in.ladderNotes(e, w)}
}

func emptyRow() row { return slices.Repeat(row{cell{}}, ladderColumns) }

func (w workload) row(e *record.Effects, arm string) row {
	r := emptyRow()
	r[colArm] = cell{arm, strong}
	r[colAdds] = cell{w.word(arm).adds, plain}
	r[colValue] = w.value(arm, w.Primary)
	if arm == w.Baseline {
		r[colAdds] = cell{w.baselineWord(), faint}
		return r
	}
	if x, ok := w.PrimaryOf(arm); ok {
		r[colEffect], r[colVerdict] = w.in.seenCell(x), w.in.verdictCell(x)
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
func (in Language) remainderRow(e *record.Effects, x record.Effect) row {
	r := emptyRow()
	r[colArm] = cell{"  " + in.text("ladder.remainder"), plain}
	r[colAdds] = cell{in.text("ladder.beyond", "arm", x.Baseline), plain}
	r[colStep], r[colVerdict] = effectCell(x), in.verdictCell(x)
	return r
}

// twinRow shows the noise floor: the twin has no step and no verdict unless
// it is a bad one.
func (w workload) twinRow(e *record.Effects, arm string) row {
	r := w.row(e, arm)
	r[colAdds] = cell{w.in.text("ladder.again", "baseline", w.Baseline), plain}
	effect, word := r[colEffect].figure(), cell{}
	effect.tone = faint
	if w.NoiseFloor > 0 {
		word = cell{w.in.text("ladder.noise", "noise", quantity.PlusMinus(w.NoiseFloor)), faint}
	}
	if x, ok := w.PrimaryOf(arm); ok && x.Verdict.Differs() {
		word, effect.tone = cell{w.in.text("ladder.differs"), broken}, broken
	}
	r[colVerdict], r[colEffect] = word, effect
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
func (in Language) ladderNotes(e *record.Effects, w workload) []sentence {
	var notes []sentence
	for _, arm := range w.Arms() {
		x, ok := w.PrimaryOf(arm)
		if ok && x.Intermittent && x.Typical != nil {
			notes = append(notes, in.joined("join.semicolon", say(in.colon(arm, quantity.Interval(x.Typical))), in.burstTail(x)))
		}
	}
	notes = append(notes, in.launchesNotes(w)...)
	notes = append(notes, in.undecidedNotes(e, w)...)
	notes = append(notes, in.unjudgedNotes(w)...)
	notes = append(notes, in.reasonNotes(w)...)
	for _, arm := range w.Arms() {
		if n := w.Arm[arm].Errors; n > 0 {
			notes = append(notes, in.msg("ladder.failed", "arm", arm, "n", n))
		}
	}
	return notes
}

// burstTail is the clause on an intermittent loss, with the total effect.
func (in Language) burstTail(x record.Effect) sentence {
	if !x.Intermittent || x.Typical == nil {
		return nil
	}
	s := in.msg("tail.bursts.some")
	if x.Slow > 0 {
		s = in.msg("tail.bursts", "slow", quantity.Share(x.Slow))
	}
	if x.Total == nil {
		return s
	}
	return in.joined("join.semicolon", s, in.msg("tail.total", "effect", quantity.Interval(x.Total)))
}

// launchesNotes name the arms that have too few launches for a verdict, with the longest time that would decide one.
func (in Language) launchesNotes(w workload) (notes []sentence) {
	var few arrange.Grouped[record.Said]
	needed := map[record.Said]float64{} // by reason
	for _, arm := range append(slices.Clone(w.Ladder), w.Beside...) {
		if x, ok := w.PrimaryOf(arm); ok && w.FewLaunches(x) {
			few.Add(x.Reason, arm)
			needed[x.Reason] = max(needed[x.Reason], x.Needed)
		}
	}
	for reason, arms := range few.All() {
		note := in.msg("open.launches", "arms", in.list(arms), "reason", in.said(reason))
		if more := needed[reason]; more > 0 {
			note = in.msg("open.launches.time", "arms", in.list(arms), "reason", in.said(reason), "time", in.about(more))
		}
		notes = append(notes, note)
	}
	return notes
}

// undecidedNotes tell what the undecided arms lack, in one line.
func (in Language) undecidedNotes(e *record.Effects, w workload) []sentence {
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
		tails = append(tails, in.detectableNote(w, detectable))
	}
	switch {
	case needed > 0 && len(arms) > 1:
		tails = append(tails, in.msg("open.needed.all", "time", in.about(needed), "margin", quantity.Size(e.Margin)))
	case needed > 0:
		tails = append(tails, in.msg("tail.more", "time", in.about(needed), "margin", quantity.Size(e.Margin)))
	}
	return []sentence{in.joined("join.sentences", in.msg("open.arms", "arms", in.list(arms)), in.capital(in.msg("join.stop", "sentence", in.joined("join.semicolon", tails...)), ""))}
}

// detectableNote says how large a loss would be seen: a cost as the judged metric shows it.
func (in Language) detectableNote(w workload, detectable float64) sentence {
	key := messages.Key("open.detectable")
	if w.metricWord(w.Primary).more {
		key, detectable = "open.detectable.loss", detectable/(1+detectable)
	}
	return in.msg(key, "size", quantity.PlusMinus(detectable)[len("±"):])
}

// unjudgedNotes name, for each metric that is judged, the arms that are not.
func (in Language) unjudgedNotes(w workload) (notes []sentence) {
	for _, m := range w.Judged {
		var arms []string
		for _, arm := range append(slices.Clone(w.Ladder), w.Beside...) {
			if w.Effect[key(m, arm)].Unjudged {
				arms = append(arms, arm)
			}
		}
		if len(arms) > 0 {
			notes = append(notes, in.msg("open.unjudged", "metric", w.metricWord(m).of, "arms", in.list(arms), "question", w.Question))
		}
	}
	return notes
}

// reasonNotes give the reasons why an arm has no answer.
func (in Language) reasonNotes(w workload) []sentence {
	var reasons arrange.Grouped[string]
	for _, arm := range w.Arms() {
		x, ok := w.PrimaryOf(arm)
		if !ok || x.Reason.IsZero() || arrange.Seen(x) && x.Verdict == record.Undecided || x.Typical != nil && x.Verdict != record.Invalid {
			continue
		}
		reasons.Add(in.colon(in.verdictWord(x.Verdict), in.said(x.Reason)), arm)
	}
	var notes []sentence
	for why, arms := range reasons.All() {
		notes = append(notes, in.stated(in.list(arms), why))
	}
	return notes
}
