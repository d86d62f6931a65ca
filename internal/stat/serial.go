package stat

import (
	"math"
	"slices"
	"sort"
)

// Test is a test statistic and its two-sided p-value; both NaN when there is too
// little to test.
type Test struct{ Stat, P float64 }

// runsAbout is z of the runs test about a value (Wald and Wolfowitz 1940, Ann.
// Math. Stat. 11, p. 147, normal approximation), below 0 for too few runs; NaN when
// there is too little to test. Values equal to it are left out.
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

func twoSided(z float64) float64 { return 2 * normalCDF(-math.Abs(z)) }

// Median is NaN for no values.
func Median(x []float64) float64 { return middle(slices.Clone(x)) }

// middle is Median of a list that may be put in another order, without NaN.
func middle(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	k := len(x) / 2
	upper := nth(x, k)
	if len(x)%2 == 1 {
		return upper
	}
	return (slices.Max(x[:k]) + upper) / 2
}

// nth puts the value in place k that belongs there in order, none larger before it
// and none smaller behind it, and returns it (Hoare 1961, CACM 4, p. 321).
func nth(x []float64, k int) float64 {
	for lo, hi := 0, len(x)-1; lo < hi; {
		pivot := x[lo+(hi-lo)/2]
		i, j := lo, hi
		for i <= j {
			for x[i] < pivot {
				i++
			}
			for pivot < x[j] {
				j--
			}
			if i <= j {
				x[i], x[j] = x[j], x[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case k <= j:
			hi = j
		case k >= i:
			lo = i
		default:
			return x[k]
		}
	}
	return x[k]
}

// Lag1Within is the lag-1 autocorrelation (Stat, -1 to 1) of several series together,
// each about its own mean, with its p-value under independence, by the normal
// approximation. Under independence the numerator of a series of m values expects
// -(m-1)/m variances (Moran 1948, Biometrika 35, p. 255). Series of fewer than 3 values
// are left out.
func Lag1Within(series [][]float64) Test {
	num, ssd, expect, variance, free, size := 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
	for _, x := range series {
		m := float64(len(x))
		if m < 3 {
			continue
		}
		mean := average(x)
		for i := 1; i < len(x); i++ {
			num += (x[i] - mean) * (x[i-1] - mean)
		}
		ssd += sumSquares(x, mean)
		size = math.Max(size, magnitude(x))
		free += m - 1
		expect -= (m - 1) / m
		variance += (m - 2) * (m - 2) * (m - 1) / (m * m)
	}
	if free < 7 || !(math.Sqrt(ssd) > 1e-14*size) {
		return Test{math.NaN(), math.NaN()}
	}
	return Test{num / ssd, twoSided((num/ssd*free - expect) / math.Sqrt(variance))}
}

// Ranks are the ranks within each series, from 1; equal values share their mean.
func Ranks(series [][]float64) [][]float64 {
	out := make([][]float64, len(series))
	for k, x := range series {
		sorted := slices.Sorted(slices.Values(x))
		out[k] = make([]float64, len(x))
		for i, v := range x {
			below := sort.SearchFloat64s(sorted, v)
			upTo := sort.Search(len(sorted), func(i int) bool { return sorted[i] > v })
			out[k][i] = float64(below+upTo+1) / 2
		}
	}
	return out
}
