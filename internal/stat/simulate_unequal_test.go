package stat

import (
	"fmt"
	"testing"
)

// shortened keeps the first blocks of each launch of a run: lengths[g] of launch g.
func shortened(w Windows, lengths []int) Windows {
	out, n := Windows{Control: w.Control}, make([]int, len(lengths))
	for b, g := range w.Launch {
		if n[g] < lengths[g] {
			n[g]++
			out.Y, out.Launch = append(out.Y, w.Y[b]), append(out.Launch, g)
		}
	}
	return out
}

// TestUnequalLaunches: a run that learns how noisy a load is makes its launches longer or shorter as it goes on. Intervals
// hold as long as none is much longer than all before.
func TestUnequalLaunches(t *testing.T) {
	lengths := [][]int{{3, 13, 28, 13, 11}, {3, 9, 27, 8}, {3, 40, 3, 3, 3}, {3, 3, 3, 3, 5, 8, 8}, {20, 3, 3, 3, 3, 3, 3}}
	scatter := []struct{ sd, noise float64 }{{0, 0.1}, {0.02, 0.1}, {0.05, 0.2}, {0.01, 0.002}}
	if !simulating() {
		lengths, scatter = lengths[:2], scatter[2:3]
	}
	for i, n := range lengths {
		for _, c := range scatter {
			d := table{launches: len(n), blocks: 40, arms: 7, launchSD: c.sd, noise: c.noise}
			rng, missed, runs := seeded(uint64(4100+i)), 0, runsOf(t, 2000)
			for range runs {
				f := FitWindows(shortened(d.run(rng), n), true)
				if !f.Interval(f.Against(d.arms-1), 0.95).Contains(0) {
					missed++
				}
			}
			within(t, fmt.Sprintf("%v sd %.3f noise %.3f: missed", n, c.sd, c.noise), missed, runs, 0, 0.07)
		}
	}
}
