package analysis

import (
	"cmp"
	"math"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/record"
)

// MeanChange is the geometric mean of the changes of an arm over workloads, which were measured one after the
// other: their errors are independent, and their variances add up. The degrees of freedom are those of
// Welch and Satterthwaite (Welch 1947, Biometrika 34, p. 28). If a workload has no change that can be judged, there is
// no mean. moreIsBetter is the direction of the metric.
func MeanChange(parts []record.Change, margin float64, moreIsBetter bool) record.Change {
	first := parts[0]
	out := record.Change{Metric: first.Metric, Arm: first.Arm, Baseline: first.Baseline, Primary: true, Subject: true}
	n := float64(len(parts))
	before, after, log, variance, welch := 0.0, 0.0, 0.0, 0.0, 0.0
	for _, x := range parts {
		if x.Change == nil || x.Before == nil || x.After == nil || !(x.Change.SE > 0 && x.Change.DF > 0) {
			out.Reason = noMean(x.Workload)
			return out
		}
		if x.Verdict == record.Invalid || x.Bound == nil {
			out.Verdict, out.Reason = x.Verdict, cmp.Or(x.Reason, noMean(x.Workload))
		}
		before, after = before+math.Log(x.Before.Ratio)/n, after+math.Log(x.After.Ratio)/n
		v := x.Change.SE * x.Change.SE / (n * n)
		log, variance, welch = log+math.Log(x.Change.Ratio)/n, variance+v, welch+v*v/x.Change.DF
	}
	out.Before, out.After = &record.Ratio{Ratio: math.Exp(before)}, &record.Ratio{Ratio: math.Exp(after)}
	better := -1
	if moreIsBetter {
		better = 1
	}
	f := ofEstimates([]stat.Estimate{{Mean: log, SE: math.Sqrt(variance), DF: variance * variance / welch, N: len(parts)}}, bothStopped, 1)
	r := f.judge(f, []proof{enoughRuns}, standard{judged: true, better: better, margin: margin})[0]
	out.Change = shown(r.est, r.shown)
	if out.Reason.IsZero() {
		r.fillChange(&out)
	}
	return out
}

// fillChange writes the ruling into a change.
func (r ruling) fillChange(c *record.Change) {
	c.Verdict, c.Reason = r.verdict, r.reason
	if r.proof.launches >= enoughRuns.launches {
		c.Bound = shown(r.est, r.bound)
		c.AtMost = r.atMost(c.Bound)
	}
}
