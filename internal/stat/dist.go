package stat

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// NormalCDF is P(Z <= z) for a standard normal Z.
func NormalCDF(z float64) float64 { return 0.5 * math.Erfc(-z/math.Sqrt2) }

// NormalQuantile is the z with NormalCDF(z) = p.
func NormalQuantile(p float64) float64 { return -math.Sqrt2 * math.Erfcinv(2*p) }

// hugeDF is where Student's t is taken as a corrected normal: the correction's error is of order 1/df^2.
const hugeDF = 1e5

// StudentQuantile is the t with P(T <= t) = p for Student's t with df degrees of
// freedom, any real df > 0 or +Inf (Abramowitz and Stegun 1964, 26.7.1).
func StudentQuantile(p, df float64) float64 {
	switch {
	case !(p >= 0 && p <= 1 && df > 0):
		return math.NaN()
	case p == 0 || p == 1:
		return math.Inf(int(2*p) - 1)
	case df > hugeDF:
		z := NormalQuantile(p)
		return z + (z*z*z+z)/(4*df) // Abramowitz and Stegun 1964, 26.7.5
	}
	x := mathext.InvRegIncBeta(df/2, 0.5, 2*math.Min(p, 1-p)) // df/(df + t^2)
	return math.Copysign(math.Sqrt(df*(1-x)/x), p-0.5)
}

// studentTail is P(T > t) for t >= 0. It is computed as a tail, not as 1 - P(T <= t), so
// that small p-values stay exact.
func studentTail(t, df float64) float64 {
	switch {
	case math.IsNaN(t) || !(df > 0):
		return math.NaN()
	case df > hugeDF:
		// Abramowitz and Stegun 1964, 26.7.8.
		return NormalCDF(-t * (1 - 0.25/df) / math.Sqrt(1+t*t/(2*df)))
	}
	r := t / math.Sqrt(df) // not t*t, which overflows for df < 1
	return 0.5 * mathext.RegIncBeta(df/2, 0.5, 1/(1+r*r))
}

// fisherTail is P(F > f) for Fisher's F (Abramowitz and Stegun 1964, 26.6.2).
func fisherTail(f, df1, df2 float64) float64 {
	if !(f >= 0 && df1 > 0 && df2 > 0) {
		return math.NaN()
	}
	return mathext.RegIncBeta(df2/2, df1/2, df2/(df2+df1*f))
}
