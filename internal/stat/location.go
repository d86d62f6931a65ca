package stat

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Mean is the arithmetic mean with SE s/sqrt(n) and df n-1 (Student 1908). SE is
// NaN for fewer than two values or when all are equal.
func Mean(x []float64) Estimate { return Trimmed(x, 0) }

// Trimmed is the mean without the g = floor(frac*n) smallest and g largest
// values, 0 <= frac < 1/2. With h = n-2g values left and SSDw the Winsorised sum
// of squared deviations, SE^2 = SSDw / (h(h-1)) and df = h-1 (Tukey and
// McLaughlin 1963, Sankhya A 25, p. 331; Yuen 1974, Biometrika 61, p. 165). SE is NaN
// when h < 2 or when the Winsorised values are all equal.
func Trimmed(x []float64, frac float64) Estimate {
	n := len(x)
	g := int(frac * float64(n))
	if n == 0 || g < 0 || 2*g >= n || floats.HasNaN(x) {
		return unknown(math.NaN(), n)
	}
	s := slices.Clone(x) // faster than slices.Sorted
	slices.Sort(s)
	h := n - 2*g
	m := average(s[g : n-g])
	winsorise(s, g)
	ssd := sumSquares(s, average(s))
	return withVariance(m, ssd/float64(h*(h-1)), float64(h-1), n, magnitude(s))
}

// winsorise replaces the g values at each end of a sorted slice by the nearest
// that stays.
func winsorise(sorted []float64, g int) {
	n := len(sorted)
	for i := range g {
		sorted[i] = sorted[g]
		sorted[n-1-i] = sorted[n-1-g]
	}
}

// Disagreement is the mean minus the trimmed mean of the same values. Far below 0
// (PValue), a part of the values loses much and the trimmed mean does not show
// it. SE is from the influence of each value on the difference, x - m - n/h (w -
// mw) with w the Winsorised value (Huber 1981, Robust Statistics, section 3.3),
// and df h-1. Not the jackknife: leaving one out of 30 changes the number
// trimmed, and its error is 14 % for 5 %. Values from several groups may be
// concatenated: a shift of a group moves both.
func Disagreement(x []float64, frac float64) Estimate {
	t := Trimmed(x, frac)
	if !t.Known() {
		return t
	}
	n, h := float64(t.N), t.DF+1
	s := slices.Sorted(slices.Values(x))
	w := slices.Clone(s)
	winsorise(w, (t.N-int(h))/2)
	m, mw, ssd := average(s), average(w), 0.0
	for i := range s {
		influence := s[i] - m - n/h*(w[i]-mw)
		ssd += influence * influence
	}
	return withVariance(m-t.Mean, ssd/(n*(n-1)), t.DF, t.N, magnitude(s))
}

// Share is the part of x at or beyond limit, on the side of 0 that limit is on:
// with limit -0.05 the share of values <= -0.05. NaN for no values.
func Share(x []float64, limit float64) float64 {
	hits := floats.Count(func(v float64) bool {
		return limit < 0 && v <= limit || limit >= 0 && v >= limit
	}, x)
	return float64(hits) / float64(len(x))
}

// LogRatio is ln(y/base); NaN unless both are positive and finite.
func LogRatio(y, base float64) float64 {
	if r := math.Log(y) - math.Log(base); finite(r) {
		return r
	}
	return math.NaN()
}

// sumOf adds in order. The order of floats.Sum follows the address of x: the last digits of a result
// would differ from one run to the next.
func sumOf(x []float64) float64 {
	total := 0.0
	for _, v := range x {
		total += v
	}
	return total
}

func average(x []float64) float64 { return sumOf(x) / float64(len(x)) }

// sumSquares is the sum of squared deviations from m.
func sumSquares(x []float64, m float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += (v - m) * (v - m)
	}
	return sum
}

// magnitude is the largest absolute value, against which rounding is judged.
func magnitude(x []float64) float64 { return floats.Norm(x, math.Inf(1)) }
