package report

import (
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/record"
)

// Sentences on one finding.

// subject names the subject of a finding.
func (w workload) subject(f record.Finding) string {
	s := w.word(f.Effect.Arm).phrase
	switch f.Subject {
	case record.SubjectLayers:
		s = text("subject.layers", "arm", s)
	case record.SubjectNeighbour:
		s = text("subject.neighbour", "name", f.Neighbour)
	}
	if f.Effect.Unequal != "" {
		s = text("subject.unequal", "subject", s)
	}
	return s
}

// finding is all clauses on a subject. Alone it is a sentence that names the subject, else it
// follows the name of the load.
func (w workload) finding(f record.Finding, margin float64, alone bool) sentence {
	if f.Effect.Verdict == record.Undecided && arrange.Seen(f.Effect) {
		return w.inTheseRuns(f)
	}
	return stopped(w.clauses(f, margin, alone))
}

// clause names the message of a verdict: as a sentence of its own, which names the
// subject, and as a line behind the name of the load.
type clause struct{ sentence, line messages.Key }

// clauses are the verdict and then the other clauses, the most important first.
func (w workload) clauses(f record.Finding, margin float64, alone bool) []sentence {
	if f.OtherWork > 0 {
		return w.competingClauses(f, margin, alone)
	}
	x := f.Effect
	pairs := []any{"subject", w.subject(f), "margin", quantity.Size(margin), "effect", effectText(x), "because", because(x.Reason), "verdict", x.Verdict}
	var verdict clause
	var tails []sentence
	switch {
	case x.Verdict == record.Undecided && x.Typical == nil:
		verdict = clause{"finding.unknown", "line.unknown"}
	case x.Verdict == record.Undecided:
		verdict = clause{"finding.open", "line.open"}
		tails = append(partTails(f), w.openTails(f, margin, alone)...)
	case x.Verdict == record.Invalid:
		verdict = clause{"finding.invalid", "line.invalid"}
	case x.Typical == nil:
		verdict = clause{"finding.amount", "line.amount"}
	case x.Verdict == record.Negligible:
		verdict = clause{"finding.equal", "line.equal"}
	case x.Verdict == record.NoLoss:
		verdict = clause{"finding.noloss", "line.noloss"}
	default:
		verdict = clause{"finding.moved", "line.moved"}
		pairs = append(pairs, "what", w.does(x))
	}
	tails = append(tails, w.noiseTail(x))
	if x.Verdict != record.Undecided {
		tails = append(tails, partTails(f)...)
	}
	tails = append(tails, burstTail(x), w.stepTail(f))
	tails = slices.DeleteFunc(tails, func(s sentence) bool { return len(s) == 0 })
	key := verdict.line
	if alone {
		key = verdict.sentence
	}
	return append([]sentence{msg(key, pairs...)}, tails...)
}

// competingClauses are the clauses beside other work on this host: the CPU time that the arm
// received, which is no price of the arm, and what an operation costs.
func (w workload) competingClauses(f record.Finding, margin float64, alone bool) []sentence {
	key := messages.Key("line.competing")
	if alone {
		key = "finding.competing"
	}
	received := msg("competing.same", "interval", quantity.Interval(f.Received))
	if r := f.Received; r.Low > 1 || r.High < 1 {
		word := messages.Key("competing.less")
		if r.Ratio > 1 {
			word = "competing.more"
		}
		received = msg(word, "amount", size(r.Ratio))
	}
	cpu := size(f.CPU.Ratio)
	work := msg("competing.open", "interval", quantity.Interval(f.CPU))
	switch f.Efficiency.Verdict {
	case record.Cost:
		work = msg("competing.costs", "amount", cpu)
	case record.Gain:
		work = msg("competing.gains", "amount", cpu)
	case record.Negligible:
		work = msg("competing.equal", "margin", quantity.Size(margin))
	}
	out := []sentence{
		msg(key, "subject", w.subject(f), "received", received, "share", whole(f.OtherWork)),
		msg("competing.work", "work", work),
	}
	return append(out, slices.DeleteFunc([]sentence{burstTail(f.Effect)}, func(s sentence) bool { return len(s) == 0 })...)
}

// size is a change in percent without its sign.
func size(ratio float64) string { return strings.TrimLeft(quantity.Percent(ratio), "+-") }

func effectText(x record.Effect) string { return quantity.Interval(x.Typical) }

// does is the predicate of a cost or a gain: "costs throughput".
func (w workload) does(x record.Effect) sentence {
	m := w.metricWord(x.Metric)
	key := map[[2]bool]messages.Key{
		{true, false}: "does.costs", {true, true}: "does.gains", {false, false}: "does.raises", {false, true}: "does.lowers",
	}[[2]bool{m.more, x.Verdict == record.Gain}]
	return msg(key, "metric", m.of)
}

// openTails returns the loss that an undecided effect rules out, and the time that would decide it; of an
// arm with too few launches, the time that these take.
func (w workload) openTails(f record.Finding, margin float64, alone bool) (tails []sentence) {
	if w.FewLaunches(f.Effect) {
		return []sentence{msg("tail.launches", "reason", f.Effect.Reason, "time", quantity.About(w.MoreLaunches(f.Effect)))}
	}
	if f.Excluded > 0 && f.Excluded <= informative {
		key := messages.Key("tail.excluded")
		if !w.metricWord(f.Effect.Metric).more {
			key = "tail.excluded.rise"
		}
		tails = append(tails, msg(key, "loss", whole(f.Excluded)))
	}
	if f.Effect.Needed > 0 && len(w.Forecast) == 0 && alone {
		tails = append(tails, msg("tail.more", "time", quantity.About(f.Effect.Needed), "margin", quantity.Size(margin)))
	}
	return tails
}

// informative is the largest loss for which a line says that a larger one is ruled out.
const informative = 0.5

// noiseTail is the clause on a cost or gain that is no larger than the noise floor.
func (w workload) noiseTail(x record.Effect) sentence {
	if !w.InNoise(x) {
		return nil
	}
	return msg("tail.noise", "noise", quantity.PlusMinus(w.Noise(x.Metric)))
}

// partTails returns the parts of a loss, or the CPU time per operation where the throughput is
// undecided.
func partTails(f record.Finding) []sentence {
	if f.CPU == nil {
		return nil
	}
	work := msg("tail.work", "more", quantity.Unsigned(quantity.Percent(f.CPU.Ratio)))
	switch {
	case f.Part == record.LossWork:
		return []sentence{work}
	case f.Part == record.LossCPU:
		return []sentence{msg("tail.cpu")}
	case f.Part == record.LossBoth:
		return []sentence{work, msg("tail.cpu")}
	case workDecided(f):
		return []sentence{msg("tail.efficiency", "cpu", quantity.Interval(f.CPU))}
	}
	return nil
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

// stepTail names the step with the largest part of a cost; of an undecided effect, a step that is
// decided.
func (w workload) stepTail(f record.Finding) sentence {
	if f.Single {
		return msg("tail.nostep")
	}
	if f.Unmeasured {
		return msg("tail.steps.unmeasured")
	}
	if f.Largest == nil || f.Largest.Typical == nil {
		return nil
	}
	step := w.word(f.Largest.Arm).phrase
	if w.Real(f.Largest.Arm) {
		step = text("step.remainder", "arm", f.Largest.Baseline)
	}
	switch {
	case f.Share == 0:
		return msg("tail.itself", "step", step, "effect", quantity.Interval(f.Largest.Typical))
	case f.Share >= 0.5:
		return msg("tail.most", "step", step, "effect", quantity.Percent(f.Largest.Typical.Ratio))
	}
	return msg("tail.largest", "step", step, "effect", quantity.Percent(f.Largest.Typical.Ratio))
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return text("because", "reason", strings.TrimRight(reason, "."))
}

// bestIsolation is the mechanism that gives most of a loss back.
func bestIsolation(f record.Finding) sentence {
	if f.Subject != record.SubjectNeighbour || f.Effect.Verdict != record.Cost {
		return nil
	}
	if f.Best == nil {
		return msg("best.none")
	}
	back := f.Best.Of(f.Effect.Metric).Share
	pairs := []any{"arm", f.Best.Arm, "share", quantity.WithUnit(percent100(back.Share), "%"),
		"interval", "[" + percent100(back.Low) + ", " + percent100(back.High) + "]"}
	if f.Best.Kept == nil {
		return msg("best.back", pairs...)
	}
	return msg("best.kept", append(pairs, "kept", parts100(f.Best.Kept.Ratio, f.Best.Kept.Low, f.Best.Kept.High))...)
}

// busyNode is the sentence on the effects of a neighbour in a pod.
func (w workload) busyNode(b record.BusyNode) sentence {
	var changed []string
	for _, arm := range b.Changed {
		r := b.Effects[arm]
		changed = append(changed, arm+" "+quantity.Interval(&r))
	}
	if len(changed) == 0 {
		return msg("busy.none", "neighbour", b.Neighbour, "arms", list(b.Open))
	}
	key, open := messages.Key("busy.better"), ""
	if b.Worse {
		key = "busy.worse"
	}
	if len(b.Open) > 0 {
		open = text("busy.open", "arms", list(b.Open))
	}
	return msg(key, "neighbour", b.Neighbour, "metric", w.metricWord(b.Metric).of, "arms", list(changed), "open", open)
}
