package stat

import (
	"math"
	"slices"
)

// Test is a test statistic and its two-sided p-value; both NaN when there is too
// little to test.
type Test struct{ Stat, P float64 }

// Lag1 is the lag-1 autocorrelation (Stat, -1 to 1) with its p-value under
// independence, by the normal approximation with mean -1/n and variance
// (n-2)^2/(n^2(n-1)) (Moran 1948, Biometrika 35, p. 255). Rows in random order
// have none, whatever the noise.
func Lag1(x []float64) Test {
	n := float64(len(x))
	m := average(x)
	ssd := sumSquares(x, m)
	if n < 4 || !(math.Sqrt(ssd) > 1e-14*magnitude(x)) {
		return Test{math.NaN(), math.NaN()}
	}
	sum := 0.0
	for i := 1; i < len(x); i++ {
		sum += (x[i] - m) * (x[i-1] - m)
	}
	r := sum / ssd
	sd := (n - 2) / (n * math.Sqrt(n-1))
	return Test{r, twoSided((r + 1/n) / sd)}
}

// Runs is the runs test about the median (Wald and Wolfowitz 1940, Ann. Math.
// Stat. 11, p. 147, normal approximation): Stat is z, below 0 for too few runs,
// which is what slow drift makes. Values equal to the median are left out.
func Runs(x []float64) Test {
	z := runsAbout(x, Median(x))
	return Test{z, twoSided(z)}
}

// runsAbout is z of the runs test about a value; NaN when there is too little to
// test.
func runsAbout(x []float64, cut float64) float64 {
	above, below, runs, last := 0.0, 0.0, 0.0, 0.0
	for _, v := range x {
		side := v - cut
		switch {
		case side > 0:
			above++
		case side < 0:
			below++
		default:
			continue
		}
		if last == 0 || (side > 0) != (last > 0) {
			runs++
		}
		last = side
	}
	n := above + below
	expect := 2*above*below/n + 1
	variance := (expect - 1) * (expect - 2) / (n - 1)
	if !(variance > 0) {
		return math.NaN()
	}
	return (runs - expect) / math.Sqrt(variance)
}

func twoSided(z float64) float64 { return 2 * NormalCDF(-math.Abs(z)) }

// Median is NaN for no values.
func Median(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(x))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}
