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
// McLaughlin 1963, Sankhya A 25, p. 331; Yuen 1974, Biometrika 61,
// p. 165). SE is NaN when h < 2 or when the Winsorised values
// are all equal.
func Trimmed(x []float64, frac float64) Estimate {
	n := len(x)
	g := int(frac * float64(n))
	if n == 0 || g < 0 || 2*g >= n || floats.HasNaN(x) {
		return unknown(math.NaN(), n)
	}
	s := slices.Clone(x)
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

func average(x []float64) float64 { return floats.Sum(x) / float64(len(x)) }

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
