package compare

import (
	"math"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/record"
)

// mark marks the changes of primary metrics and of subjects. A workload whose question is about no
// single arm, such as one with named arms, has all its arms as subjects.
func mark(changes []record.Change, after *record.Effects) {
	for _, w := range arrange.Workloads(after) {
		subject := w.Subject()
		for i := range changes {
			if x := &changes[i]; x.Workload == w.Name {
				x.Primary = x.Metric == w.Primary
				x.Subject = x.Arm == subject || subject == ""
			}
		}
	}
}

// moreIsBetter says which way the primary metrics of the workloads are better.
func moreIsBetter(e *record.Effects) map[string]bool {
	more := map[string]bool{}
	for _, w := range arrange.Workloads(e) {
		more[w.Primary] = w.MoreIsBetter(w.Primary)
	}
	return more
}

// means returns the geometric means of the changes of each arm that is the subject of several workloads.
func means(changes []record.Change, margin float64, more map[string]bool) (out []record.Change) {
	type key struct{ arm, metric, baseline string }
	var keys []key
	parts := map[key][]record.Change{}
	for _, x := range changes {
		if k := (key{x.Arm, x.Metric, x.Baseline}); x.Primary && x.Subject {
			if parts[k] == nil {
				keys = append(keys, k)
			}
			parts[k] = append(parts[k], x)
		}
	}
	for _, k := range keys {
		if len(parts[k]) > 1 {
			out = append(out, mean(parts[k], margin, more[k.metric]))
		}
	}
	return out
}

// mean is the geometric mean of the changes of an arm over workloads, which were measured one after the
// other: their errors are independent, and their variances add up. The degrees of freedom are those of
// Welch and Satterthwaite (Welch 1947, Biometrika 34, p. 28). The interval decides the verdict. If a
// workload has no change, there is no mean.
func mean(parts []record.Change, margin float64, more bool) record.Change {
	first := parts[0]
	out := record.Change{Metric: first.Metric, Arm: first.Arm, Baseline: first.Baseline, Primary: true, Subject: true}
	n := float64(len(parts))
	before, after, log, variance, welch := 0.0, 0.0, 0.0, 0.0, 0.0
	for _, x := range parts {
		if x.Change == nil || x.Before == nil || x.After == nil || !(x.Change.SE > 0 && x.Change.DF > 0) {
			out.Reason = noMean(x.Workload)
			return out
		}
		before, after = before+math.Log(x.Before.Ratio)/n, after+math.Log(x.After.Ratio)/n
		v := x.Change.SE * x.Change.SE / (n * n)
		log, variance, welch = log+math.Log(x.Change.Ratio)/n, variance+v, welch+v*v/x.Change.DF
	}
	e := stat.Estimate{Mean: log, SE: math.Sqrt(variance), DF: variance * variance / welch, N: len(parts)}
	i := e.At(stat.Level(true, 1))
	out.Before, out.After = &record.Ratio{Ratio: math.Exp(before)}, &record.Ratio{Ratio: math.Exp(after)}
	out.Change = &record.Ratio{Ratio: math.Exp(log), Low: math.Exp(i.Lo), High: math.Exp(i.Hi), SE: e.SE, DF: e.DF}
	switch r := out.Change; {
	case i.Inside(math.Log1p(margin)):
		out.Verdict = record.Negligible
	case r.Low > 1 && more, r.High < 1 && !more:
		out.Verdict = record.Gain
	case r.Low > 1, r.High < 1:
		out.Verdict = record.Cost
	}
	return out
}

// needed is Comparison.Needed: the width of an interval falls with the root of the time.
func needed(c *record.Comparison) float64 {
	longest, times := max(c.Before.Seconds, c.After.Seconds), 0.0
	for _, x := range c.Changes {
		if !x.Primary || !x.Subject || x.Verdict != record.Undecided {
			continue
		}
		if x.Change == nil || c.Margin <= 0 {
			return 0
		}
		half := (x.Change.High - x.Change.Low) / 2
		times = max(times, half*half/(c.Margin*c.Margin))
	}
	if times <= 1 {
		return 0
	}
	return longest * times
}
