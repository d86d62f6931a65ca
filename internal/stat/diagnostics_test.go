package stat

import (
	"fmt"
	"math"
	"testing"
)

// rate counts in how many of n simulated cases hit is true.
func rate(n int, hit func() bool) int {
	hits := 0
	for range n {
		if hit() {
			hits++
		}
	}
	return hits
}

// Randomised order makes the differences independent although the noise is not;
// a fixed order under the same noise does not, and both tests see it.
func TestSerialTestsUnderNoise(t *testing.T) {
	r := regimes()[1]
	r.walk = 0.02 // slow enough to show in differences of a fixed order
	differences := func(n *noise, random bool) []float64 {
		var d []float64
		for range 60 {
			a, b := n.window(discarded, measured), n.window(discarded, measured)
			if random && n.rng.IntN(2) == 0 {
				a, b = b, a
			}
			d = append(d, b-a)
		}
		return d
	}
	rng := seeded(600)
	n := replicates() / 4
	within(t, "Lag1 on random order", rate(n, func() bool { return lag1P(differences(newNoise(r, rng), true)) < 0.05 }), n, 0.03, 0.07)
	within(t, "Runs on random order", rate(n, func() bool { return runsP(differences(newNoise(r, rng), true)) < 0.05 }), n, 0.03, 0.07)
	trend := func() []float64 {
		d := differences(newNoise(r, rng), true)
		for i := range d {
			d[i] += 0.15 * math.Sin(float64(i)/8)
		}
		return d
	}
	within(t, "Lag1 on a slow effect", rate(n, func() bool { return lag1P(trend()) < 0.05 }), n, 0.9, 1)
	within(t, "Runs on a slow effect", rate(n, func() bool { return runsP(trend()) < 0.05 }), n, 0.7, 1)
}

// runsP is the p-value of the runs test about the median.
func runsP(x []float64) float64 { return twoSided(runsAbout(x, Median(x))) }

// lag1P is the p-value of the autocorrelation of one series.
func lag1P(x []float64) float64 { return Lag1Within([][]float64{x}).P }

func TestSerialTestsOfTooLittle(t *testing.T) {
	for _, x := range [][]float64{nil, {1}, {1, 1, 1, 1, 1, 1}, {0.1, 0.1, 0.1, 0.1, 5}} {
		if l, r := lag1P(x), runsP(x); len(x) < 5 && !math.IsNaN(l) || !math.IsNaN(r) {
			t.Errorf("%v: %v %v", x, l, r)
		}
	}
}

// A column that loses 20 % in 8 % of its windows: the trimmed mean hides most of
// it, and the disagreement is what shows it.
func TestDisagreement(t *testing.T) {
	rng := seeded(800)
	n := replicates() / 4
	for _, r := range regimes() {
		for _, c := range []struct{ rows, lo, hi int }{{24, 15, 45}, {60, 45, 80}, {120, 80, 100}} {
			of := func(share float64) func() bool {
				return func() bool {
					d := newNoise(r, rng).differences(2, c.rows, 0)[0]
					for i := range d {
						if rng.Float64() < share {
							d[i] += math.Log(0.8)
						}
					}
					e := Disagreement(d, 0.1)
					return e.Mean < 0 && e.PValue() < 0.05
				}
			}
			what := fmt.Sprintf("disagreement, %s, %d rows: ", r.name, c.rows)
			within(t, what+"false", rate(n, of(0)), n, 0, 0.04)
			within(t, what+"found", rate(n, of(0.08)), n, float64(c.lo)/100, float64(c.hi)/100)
		}
	}
}

// The method's table of slots: white noise wants long ones, slow noise short ones.
func TestSlotVariance(t *testing.T) {
	best := func(arTau float64, arSD, iid float64, seed uint64) float64 {
		n := newNoise(regime{arSD: arSD, arTau: arTau, iid: iid}, seeded(seed))
		counts := make([]float64, 4000)
		for i := range counts {
			counts[i] = 100 * math.Exp(n.second())
		}
		least, best := math.Inf(1), 0.0
		for _, length := range []float64{1, 2, 4, 9, 19, 59} {
			if cost := SlotVariance(counts, 1, 1, length) * (length + 1); cost < least {
				least, best = cost, length
			}
		}
		return best
	}
	if got := best(1e-9, 0, 0.03, 1); got < 9 {
		t.Errorf("white noise: windows of %v s", got)
	}
	if got := best(10, 0.04, 0.03, 2); got > 4 {
		t.Errorf("noise of 10 s: windows of %v s", got)
	}
	if got := best(120, 0.04, 0.03, 3); got > 9 {
		t.Errorf("noise of 120 s: windows of %v s", got)
	}
}

func TestSlotVarianceOfPoorTraces(t *testing.T) {
	idle := make([]float64, 1000)
	for i := 0; i < len(idle); i += 50 {
		idle[i] = 1
	}
	for _, length := range []float64{0.01, 0.1, 1, 60, 0} {
		near(t, fmt.Sprintf("windows of %v s", length), SlotVariance(idle, 0.01, 0.1, length), math.NaN(), 0)
	}
	near(t, "no trace", SlotVariance(nil, 0.01, 0, 1), math.NaN(), 0)
}
