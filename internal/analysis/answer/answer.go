// Package answer finds the answer of a result: its subject, the verdict, the parts of a loss,
// the loss that is ruled out, skipped arms, and what more time would decide. It is pure, works
// from record.Effects alone and writes no sentence.
package answer

import (
	"math"
	"slices"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// Of returns the answer of a result.
func Of(e *record.Effects) *record.Answers {
	a := &record.Answers{Loads: []record.LoadAnswer{}, Noise: noise(e)}
	for _, w := range arrange.Workloads(e) {
		a.Loads = append(a.Loads, answerOf(e, w))
	}
	a.Standing = answered(a.Loads)
	a.Untested = untested(e)
	a.Menu = menu(e, a.Loads)
	a.Next = next(a, e)
	return a
}

// answered says how many of the loads have an answer: nothing was measured, none, some or all.
func answered(loads []record.LoadAnswer) record.Answered {
	measured, decided := 0, 0
	for _, l := range loads {
		if l.Measured {
			measured++
		}
		if l.Decided && !l.Doubted {
			decided++
		}
	}
	switch {
	case measured == 0:
		return record.AnsweredNothing
	case decided == 0:
		return record.AnsweredNone
	case decided < len(loads):
		return record.AnsweredPartly
	}
	return record.AnsweredAll
}

// answerOf is the answer of one load.
func answerOf(e *record.Effects, w arrange.Workload) record.LoadAnswer {
	l := record.LoadAnswer{Workload: w.Name, Measured: !w.Unmeasured(), Findings: []record.Finding{}}
	l.Doubted = len(w.Differing()) > 0
	for _, m := range w.TwoModes {
		l.TwoModes = append(l.TwoModes, m.Arm)
	}
	l.Failed, l.Untold = badChecks(w.Checks)
	if !l.Measured {
		return l
	}
	l.Findings, l.Besides = findings(e, w)
	for _, list := range [][]record.Finding{l.Findings, l.Besides} {
		for i := range list {
			compete(e, &list[i])
		}
	}
	for i, f := range l.Findings {
		if distance(counting(f)) > distance(counting(l.Findings[l.Foremost])) {
			l.Foremost = i
		}
	}
	l.Busy = busy(e, w)
	l.Decided = slices.ContainsFunc(l.Findings, decided) || len(l.Busy) > 0 && len(l.Findings) == 0
	return l
}

// decided reports whether a finding has a verdict: on the primary metric, or on efficiency.
func decided(f record.Finding) bool {
	known := func(x *record.Effect) bool {
		return x != nil && (arrange.Moved(*x) || (x.Verdict == record.Negligible || x.Verdict == record.NoLoss) && x.Typical != nil)
	}
	if f.OtherWork > 0 {
		return known(f.Efficiency)
	}
	return known(&f.Effect) || known(f.Efficiency)
}

// counting is the effect that counts in a finding: on efficiency beside other work.
func counting(f record.Finding) record.Effect {
	if f.OtherWork > 0 {
		return *f.Efficiency
	}
	return f.Effect
}

// distance is the size of a decided effect, as a logarithm; 0 for an arm with other durability,
// which is not comparable.
func distance(x record.Effect) float64 {
	if !arrange.Moved(x) || x.Unequal != "" {
		return 0
	}
	return math.Abs(math.Log(x.Typical.Ratio))
}

// badChecks returns the kinds of the checks that failed, and of those that are undecided. A kind with
// both is a failed one.
func badChecks(all []record.Checks) (failed, undecided []string) {
	var bad, open arrange.Ordered
	for _, c := range all {
		switch {
		case c.Known && !c.OK:
			bad.Add(c.Kind)
		case !c.Known:
			open.Add(c.Kind)
		}
	}
	return bad, slices.DeleteFunc(open, func(kind string) bool { return slices.Contains(bad, kind) })
}

// findings returns the finding on the subject of the workload. A workload without a subject has
// findings on its neighbours, or else on each arm. besides are findings on arms beside the ladder
// that have a cost or gain.
func findings(e *record.Effects, w arrange.Workload) (subjects, besides []record.Finding) {
	if subject := w.Subject(); subject != "" {
		f := finding(w, subject, record.SubjectLayers)
		if w.Real(subject) {
			f.Subject = record.SubjectContainer
		}
		largest(w, &f)
		for _, arm := range w.Beside {
			if x, _ := w.PrimaryOf(arm); arrange.Moved(x) {
				besides = append(besides, finding(w, arm, record.SubjectArm))
			}
		}
		return []record.Finding{f}, besides
	}
	if subjects = neighbours(e, w); len(subjects) > 0 {
		return subjects, nil
	}
	subjects = []record.Finding{}
	for _, arm := range w.Beside {
		if _, ok := w.PrimaryOf(arm); ok && !onBusyNode(e, w.Name, arm) {
			subjects = append(subjects, finding(w, arm, record.SubjectArm))
		}
	}
	return subjects, nil
}

func finding(w arrange.Workload, arm string, s record.Subject) record.Finding {
	x, _ := w.PrimaryOf(arm)
	f := record.Finding{Subject: s, Effect: x, Efficiency: efficiency(w, arm)}
	if f.Efficiency != nil && f.Efficiency.Typical != nil {
		r := f.Efficiency.Typical
		f.CPU = &record.Ratio{Ratio: 1 / r.Ratio, Low: 1 / r.High, High: 1 / r.Low}
	}
	f.Part = part(f)
	f.Excluded = excluded(w, x)
	return f
}

// competing is the share of the CPUs that other processes have to use for the CPU time that an
// arm received to be the outcome of a competition.
const competing = 0.1

// compete sets OtherWork and Received of a finding, where its efficiency has an interval.
func compete(e *record.Effects, f *record.Finding) {
	if f.Efficiency == nil || f.Efficiency.Typical == nil || f.Effect.Parts == nil || f.Subject == record.SubjectNeighbour {
		return
	}
	if share := otherWork(e, f.Effect.Workload); share > competing {
		received := f.Effect.Parts.CPU
		f.OtherWork, f.Received = share, &received
	}
}

// otherWork is the largest share of the CPUs, over the arms of a load, that processes used which are
// neither the arm's nor its neighbour's; 0: not known.
func otherWork(e *record.Effects, load string) (most float64) {
	for _, k := range e.Kernel {
		if k.Workload != load || k.Metric != "cpu.foreign" || k.Per != "second" || e.Host.CPUs <= 0 {
			continue
		}
		for _, v := range k.Values {
			if x, ok := v.Get(); ok && quantity.Finite(x) {
				most = max(most, min(x/float64(e.Host.CPUs), 1))
			}
		}
	}
	return most
}

// efficiency is the effect of an arm on operations per CPU second; nil if it has no verdict.
func efficiency(w arrange.Workload, arm string) *record.Effect {
	x, ok := w.Effect[arrange.Key{Metric: metric.Efficiency.Name, Arm: arm}]
	if !ok || w.Primary != metric.Throughput.Name || x.Exploratory {
		return nil
	}
	return &x
}

// part says whether an arm loses throughput because it receives less CPU time, because it needs more
// CPU time per operation, or both: log throughput = log CPU time received per second + log
// operations per CPU second. Empty if the efficiency is undecided.
func part(f record.Finding) record.LossPart {
	if f.Efficiency == nil || f.Efficiency.Typical == nil || f.Effect.Metric != metric.Throughput.Name ||
		f.Effect.Typical == nil || f.Effect.Verdict != record.Cost {
		return ""
	}
	share := math.Log(f.Efficiency.Typical.Ratio) / math.Log(f.Effect.Typical.Ratio)
	switch {
	case f.Efficiency.Verdict == record.Cost && share >= 0.8:
		return record.LossWork
	case f.Efficiency.Verdict == record.Cost && share > 0.2:
		return record.LossBoth
	case (f.Efficiency.Verdict == record.Negligible || f.Efficiency.Verdict == record.NoLoss) && share < 0.5, f.Efficiency.Verdict == record.Gain:
		return record.LossCPU
	}
	return ""
}

// excluded is the largest loss in an undecided interval, as a ratio: a larger loss is ruled out.
// 0 if the effect is decided, has too few launches for a verdict, or the interval contains no loss.
func excluded(w arrange.Workload, x record.Effect) float64 {
	r := x.Typical
	if x.Bound != nil {
		r = x.Bound
	}
	if r == nil || x.Verdict != record.Undecided || w.FewLaunches(x) {
		return 0
	}
	loss := 1 - r.Low
	if !w.MoreIsBetter(x.Metric) {
		loss = r.High - 1
	}
	if !(loss > 0) || math.IsInf(loss, 0) {
		return 0
	}
	return loss
}

// largest sets f.Largest to the step with the largest loss, if there are several steps, and f.Share
// to its share of the whole loss.
func largest(w arrange.Workload, f *record.Finding) {
	x := f.Effect
	if x.Verdict != record.Cost && x.Verdict != record.Undecided || x.Typical == nil || len(w.Ladder) <= 2 {
		return
	}
	open := false // a step without an interval
	for _, arm := range w.Ladder {
		step, ok := w.Remainder[arrange.Key{Metric: w.Primary, Arm: arm}]
		if !ok {
			step, ok = w.Step[arrange.Key{Metric: w.Primary, Arm: arm}]
		}
		open = open || ok && step.Typical == nil
		if !ok || step.Verdict != record.Cost || step.Typical == nil {
			continue
		}
		if f.Largest == nil || math.Abs(math.Log(step.Typical.Ratio)) > math.Abs(math.Log(f.Largest.Typical.Ratio)) {
			f.Largest = &step
		}
	}
	switch {
	case f.Largest == nil:
		f.Single, f.Unmeasured = x.Verdict == record.Cost && !open, x.Verdict == record.Cost && open
	case x.Verdict == record.Cost && f.Largest.Typical.Ratio < x.Typical.Ratio != w.MoreIsBetter(f.Largest.Metric):
		if s := math.Log(f.Largest.Typical.Ratio) / math.Log(x.Typical.Ratio); s > 0 && !math.IsInf(s, 0) {
			f.Share = s
		}
	}
}
