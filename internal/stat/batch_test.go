package stat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// ar1 is a stationary AR(1) series with mean 100 and a standard deviation of 5.
func ar1(rng *rand.Rand, n int, rho float64) []float64 {
	x := make([]float64, n)
	z := rng.NormFloat64()
	for i := range x {
		x[i] = 100 + 5*z
		z = rho*z + math.Sqrt(1-rho*rho)*rng.NormFloat64()
	}
	return x
}

// The interval of batch means covers the true mean of correlated seconds, where
// the interval of independent ones does not by far.
func TestBatchMeansCoverage(t *testing.T) {
	for _, c := range []struct {
		n        int
		rho      float64
		low      float64 // least coverage
		known    float64 // least share with an interval at all
		ordinary float64 // coverage of what takes seconds as independent, at most
	}{
		{30, 0, 0.93, 0.95, 1}, {60, 0, 0.93, 0.97, 1}, {60, 0.5, 0.92, 0.9, 0.80},
		{300, 0, 0.935, 0.99, 1}, {300, 0.5, 0.93, 0.97, 0.77}, {300, 0.8, 0.92, 0.9, 0.55},
		{1800, 0.5, 0.935, 0.99, 0.77}, {1800, 0.9, 0.93, 0.97, 0.40}, {1800, 0.97, 0.91, 0.9, 0.3},
	} {
		t.Run(fmt.Sprintf("n=%d rho=%g", c.n, c.rho), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(uint64(c.n), uint64(100*c.rho)))
			var batched, plain tally
			all := replicates() / 2
			for range all {
				x := ar1(rng, c.n, c.rho)
				if b := BatchMeans(x); b.Known() {
					batched.add(b.At(0.95), 100)
				}
				plain.add(Mean(x).At(0.95), 100)
			}
			within(t, "coverage", batched.covers, batched.n, c.low, 0.99)
			within(t, "known", batched.n, all, c.known, 1)
			within(t, "coverage of independent seconds", plain.covers, plain.n, 0, c.ordinary)
		})
	}
}

// A line that is there is found; one that is not, rarely, also with memory.
func TestTrend(t *testing.T) {
	for _, rho := range []float64{0, 0.5, 0.9} {
		rng := rand.New(rand.NewPCG(11, uint64(100*rho)))
		c, found := tally{}, 0
		for range replicates() / 2 {
			x := ar1(rng, 900, rho)
			c.add(Trend(x).At(0.99), 0)
			for i := range x {
				x[i] += 20 * float64(i) / 900
			}
			if e := Trend(x); e.At(0.99).Lo > 0 && math.Abs(e.Mean-20) < 10 {
				found++
			}
		}
		within(t, fmt.Sprintf("false trends, rho %g", rho), c.excludes0, c.n, 0, 0.03)
		within(t, fmt.Sprintf("true trends, rho %g", rho), found, c.n, 0.9, 1)
	}
}

func TestTrendVectors(t *testing.T) {
	for _, c := range readVectors(t).Trend {
		e := Trend(c.X)
		near(t, "change", e.Mean, c.Change, 1e-9)
		near(t, "SE", e.SE, c.SE, 1e-9)
	}
}

func TestBatchMeansOfLittle(t *testing.T) {
	same := make([]float64, 50)
	for name, x := range map[string][]float64{"none": nil, "one": {3}, "few": {1, 2, 3, 4, 5, 6, 7}, "equal": same} {
		if b := BatchMeans(x); b.Known() || len(x) > 0 && math.IsNaN(b.Mean) {
			t.Errorf("%s: %+v", name, b)
		}
		if e := Trend(x); e.Known() {
			t.Errorf("%s: %+v", name, e)
		}
	}
	walk := make([]float64, 400)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := 1; i < len(walk); i++ {
		walk[i] = walk[i-1] + rng.NormFloat64()
	}
	if b := BatchMeans(walk); b.Known() {
		t.Errorf("a random walk has no mean: %+v", b)
	}
	if l := (Estimate{Mean: 50, SE: 1, DF: 9, N: 10}).Log(); l.SE != 0.02 || l.Mean != math.Log(50) {
		t.Errorf("%+v", l)
	}
	if l := (Estimate{Mean: -1, SE: 1, DF: 9, N: 10}).Log(); l.Known() {
		t.Errorf("%+v", l)
	}
}
