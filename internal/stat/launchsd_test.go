package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Without launches the usual standard deviation is likely. Few launches move it, many find the true one: in the
// middle of 200 runs within a quarter, and of four launches within a factor of two.
func TestLaunchSD(t *testing.T) {
	if one := FitWindows(launched(rand.New(rand.NewPCG(1, 1)), 1, 20, 0.02, 0.05), true).LaunchSD(); math.Abs(one/UsualLaunchSD-1) > 0.1 {
		t.Errorf("after one launch %v is likely", one)
	}
	for _, c := range []struct {
		launches  int
		sd        float64
		low, high float64
	}{
		{4, 0, 0, 0.008}, {4, 0.03, 0.015, 0.06}, {4, 0.1, 0.05, 0.2},
		{25, 0, 0, 0.005}, {25, 0.03, 0.0225, 0.0375}, {25, 0.1, 0.075, 0.125},
	} {
		var all []float64
		for seed := range uint64(200) {
			w := launched(rand.New(rand.NewPCG(seed, 2)), c.launches, 20, c.sd, 0.05)
			all = append(all, FitWindows(w, true).LaunchSD())
		}
		if got := Median(all); got < c.low || got > c.high {
			t.Errorf("%d launches of SD %v: %v, want %v to %v", c.launches, c.sd, got, c.low, c.high)
		}
	}
}

// launched are windows of three arms that do not differ, with launch effects of sd and noise in each window.
func launched(r *rand.Rand, launches, blocks int, sd, noise float64) Windows {
	w := Windows{Control: []int{0, 1}}
	for g := range launches {
		effect := []float64{sd * r.NormFloat64(), sd * r.NormFloat64(), sd * r.NormFloat64()}
		for range blocks {
			row := make([]float64, len(effect))
			for a, x := range effect {
				row[a] = x + noise*r.NormFloat64()
			}
			w.Y, w.Launch = append(w.Y, row), append(w.Launch, g)
		}
	}
	return w
}
