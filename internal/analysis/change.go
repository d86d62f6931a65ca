package analysis

import (
	"math"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/record"
)

// Changes compares the effects of two results of the same experiment: what an
// arm costs after against what it cost before, as a ratio of ratios. The two
// are independent, so on the log scale their variances add. margin is the
// smallest change that matters, as a ratio. What only one result has is left
// out.
//
// As in a single result, the intervals of the primary metric hold for all arms
// of a workload together (Bonferroni's, as the two runs do not share a control),
// and the other metrics are controlled for a false discovery rate.
func Changes(before, after *record.Effects, margin float64) []record.Change {
	var out []record.Change
	var group []joined
	flush := func() {
		out = append(out, changes(group, margin)...)
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
		group = append(group, joined{old, x, betterOf(after, x)})
	}
	flush()
	return out
}

// joined is the same effect in both results.
type joined struct {
	before, after record.Effect
	better        int
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
			return Better(w.Values, x.Metric)
		}
	}
	return Better(nil, x.Metric)
}

// changes judges one metric of one workload.
func changes(group []joined, margin float64) []record.Change {
	var family stat.Joint
	p := make([]float64, len(group))
	for i, g := range group {
		d := stat.Difference(estimate(g.after), estimate(g.before))
		family.Columns = append(family.Columns, d)
		p[i] = d.PValue()
	}
	adjusted := stat.BenjaminiHochberg(p)
	out := make([]record.Change, len(group))
	for i, g := range group {
		out[i] = g.change(family, i, margin, adjusted[i])
	}
	return out
}

// bothStopped is the level of what is shown as 95 %: either run may have been
// stopped on the width of its interval, see stat.Groups.
var bothStopped = 1 - stat.Groups(0).Alpha

func (g joined) change(family stat.Joint, i int, margin, adjusted float64) record.Change {
	e := family.Columns[i]
	c := record.Change{
		Workload: g.after.Workload, Metric: g.after.Metric, Arm: g.after.Arm, Baseline: g.after.Baseline,
		Before: g.before.Typical, After: g.after.Typical, Exploratory: g.after.Exploratory,
		P: orOne(e.PValue()), Adjusted: orOne(adjusted),
	}
	interval := e.At(bothStopped)
	significant := interval.Beyond(0) && adjusted <= discoveryRate
	if !c.Exploratory {
		interval = family.Interval(i, bothStopped)
		significant, c.Adjusted = interval.Beyond(0), orOne(family.PValue(i))
	}
	c.Change = shown(e, interval)
	switch {
	case g.before.Verdict == record.Invalid:
		c.Verdict, c.Reason = record.Invalid, "before: "+g.before.Reason
	case g.after.Verdict == record.Invalid:
		c.Verdict, c.Reason = record.Invalid, "after: "+g.after.Reason
	case g.before.Typical == nil:
		c.Reason = "not known before: " + g.before.Reason
	case g.after.Typical == nil:
		c.Reason = "not known after: " + g.after.Reason
	default:
		c.Verdict, c.Reason = judge(e, interval, significant, g.better, margin)
	}
	return c
}

// estimate is the typical effect as a log ratio.
func estimate(x record.Effect) stat.Estimate {
	if x.Typical == nil {
		return stat.Estimate{Mean: math.NaN(), SE: math.NaN()}
	}
	n := x.Generations
	if n < 2 {
		n = x.Blocks
	}
	e := stat.Estimate{Mean: math.Log(x.Typical.Ratio), SE: x.Typical.SE, DF: x.Typical.DF, N: n}
	if !(e.SE > 0) {
		e.SE = math.NaN()
	}
	return e
}
