package analysis

import (
	"slices"

	"github.com/tarelab/tare/record"
)

// podSwitches returns the times of switches of arms in pods; nil without any.
func podSwitches(tables []*table) *record.Switches {
	var took []float64
	for _, t := range tables {
		for w := range t.all() {
			if t.load.Arms[w.arm].Pod && w.switched > 0 {
				took = append(took, w.switched)
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
