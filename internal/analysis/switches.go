package analysis

import (
	"slices"

	"github.com/tarelab/tare/record"
)

// podSwitches are what the switches of arms in pods took; nil without any.
func podSwitches(r *record.Result) *record.Switches {
	var took []float64
	for _, load := range r.Plan.Workloads {
		pods := map[string]bool{}
		for _, a := range load.Arms {
			pods[a.Name] = a.Pod
		}
		for _, l := range r.Lines {
			if l.Block == nil || l.Block.Workload != load.Name {
				continue
			}
			for _, w := range l.Block.Windows {
				if pods[w.Arm] && w.Freeze > 0 {
					took = append(took, w.Freeze+w.Thaw)
				}
			}
		}
	}
	n := len(took)
	if n == 0 {
		return nil
	}
	slices.Sort(took)
	return &record.Switches{Median: took[n/2], P99: took[min(n-1, n*99/100)], Count: n}
}
