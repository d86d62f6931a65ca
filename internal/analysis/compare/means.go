package compare

import (
	"github.com/tarelab/tare/internal/analysis"
	"github.com/tarelab/tare/internal/analysis/arrange"
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
			out = append(out, analysis.MeanChange(parts[k], margin, more[k.metric]))
		}
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
