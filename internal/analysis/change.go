package analysis

import (
	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// Changes compares the effects of two results of the same experiment: the effect of an
// arm after over that before, as a ratio of ratios. The two are independent, so on the
// log scale their variances add. margin is the smallest change that matters, as a ratio.
// Effects that only one result has are skipped.
//
// The intervals of the primary metric hold for all arms of a workload together
// (Bonferroni, as the two runs do not share a control); no arm is judged first. The other
// metrics are controlled for a false discovery rate.
func Changes(before, after *record.Effects, margin float64) []record.Change {
	var out []record.Change
	var group []paired
	flush := func() {
		if len(group) > 0 {
			out = append(out, changes(group, margin, questionsOf(after, group[0].after.Workload))...)
		}
		group = nil
	}
	for _, x := range after.Effects {
		old, ok := same(before.Effects, x)
		if !ok {
			continue
		}
		if n := len(group); n > 0 && (group[n-1].after.Workload != x.Workload || group[n-1].after.Metric != x.Metric) {
			flush()
		}
		group = append(group, paired{old, x, betterOf(after, x), proofOf(before, old, after, x)})
	}
	flush()
	return out
}

// paired is the same effect in both results.
type paired struct {
	before, after record.Effect
	better        int
	proof         proof
}

// proofOf is the amount of data behind a change: that of the result that has less.
func proofOf(before *record.Effects, old record.Effect, after *record.Effects, x record.Effect) proof {
	out := proof{launches: min(launchesOrRuns(before, old), launchesOrRuns(after, x))}
	if m, known := metric.Find(nil, x.Metric); (!known || m.Name == metric.Throughput.Name) && before.Imported == nil && after.Imported == nil {
		out.windows = min(old.Blocks, x.Blocks)
	}
	return out
}

// launchesOrRuns is the number of launches behind an effect; that of enoughRuns where it is imported.
func launchesOrRuns(e *record.Effects, x record.Effect) int {
	if e.Imported != nil {
		return enoughRuns.launches
	}
	return x.Generations
}

func same(effects []record.Effect, x record.Effect) (record.Effect, bool) {
	for _, o := range effects {
		if o.Workload == x.Workload && o.Metric == x.Metric && o.Arm == x.Arm && o.Baseline == x.Baseline {
			return o, true
		}
	}
	return record.Effect{}, false
}

func betterOf(e *record.Effects, x record.Effect) int {
	for _, w := range e.Workloads {
		if w.Name == x.Workload {
			return metric.Better(w.Values, x.Metric)
		}
	}
	return metric.Better(nil, x.Metric)
}

// questionsOf is the number of metrics of a workload that are judged together.
func questionsOf(e *record.Effects, workload string) int {
	for _, w := range e.Workloads {
		if w.Name == workload {
			return max(len(w.Judged), 1)
		}
	}
	return 1
}

// changes judges one metric of one workload.
func changes(group []paired, margin float64, questions int) []record.Change {
	typical, total, proofs := make([]stat.Estimate, len(group)), make([]stat.Estimate, len(group)), make([]proof, len(group))
	for i, g := range group {
		typical[i] = stat.Difference(estimateOf(g.after), estimateOf(g.before))
		total[i] = stat.Difference(estimateOf(totalOf(g.after)), estimateOf(totalOf(g.before)))
		proofs[i] = g.proof
	}
	first := group[0]
	s := standard{judged: !first.after.Exploratory, better: first.better, margin: margin, cpu: first.after.Metric == metric.CPUPerOp.Name}
	all := ofEstimates(total, bothStopped, questions)
	var out []record.Change
	for i, r := range ofEstimates(typical, bothStopped, questions).judge(all, proofs, s) {
		out = append(out, group[i].change(r))
	}
	return out
}

// totalOf is an effect whose typical ratio is its total.
func totalOf(x record.Effect) record.Effect {
	x.Typical = x.Total
	return x
}

// bothStopped is the error of intervals that are shown as 95 %, where either run may have
// been stopped on the width of its interval.
var bothStopped = 1 - stat.Level(true, false, 1)

func (g paired) change(r ruling) record.Change {
	c := record.Change{
		Workload: g.after.Workload, Metric: g.after.Metric, Arm: g.after.Arm, Baseline: g.after.Baseline,
		Before: g.before.Typical, After: g.after.Typical, Exploratory: g.after.Exploratory,
		P: r.p, Adjusted: r.adjusted, Change: shown(r.est, r.shown),
	}
	switch {
	case g.before.Verdict == record.Invalid:
		c.Verdict, c.Reason = record.Invalid, beforeIt(g.before.Reason)
	case g.after.Verdict == record.Invalid:
		c.Verdict, c.Reason = record.Invalid, afterIt(g.after.Reason)
	case g.before.Typical == nil:
		c.Reason = unknownBefore(g.before.Reason)
	case g.after.Typical == nil:
		c.Reason = unknownAfter(g.after.Reason)
	default:
		r.fillChange(&c)
	}
	return c
}
