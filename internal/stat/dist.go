package stat

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// normalCDF is P(Z <= z) for a standard normal Z.
func normalCDF(z float64) float64 { return 0.5 * math.Erfc(-z/math.Sqrt2) }

// normalQuantile is the z with normalCDF(z) = p.
func normalQuantile(p float64) float64 { return -math.Sqrt2 * math.Erfcinv(2*p) }

// StudentQuantile is the t with P(T <= t) = p for Student's t with df degrees of
// freedom, any real df > 0 or +Inf (Student 1908, Biometrika 6, p. 1; in the form of
// Abramowitz and Stegun 1964, 26.7.1). It is found by Newton's method on the logarithms of
// tail and t: the first is a concave function of the second, so that all steps but the
// first come from above.
func StudentQuantile(p, df float64) float64 {
	if !(p >= 0 && p <= 1 && df > 0) {
		return math.NaN()
	}
	q := min(p, 1-p)
	t := -normalQuantile(q)
	for range 100 {
		if t == 0 || math.IsInf(t, 1) || math.IsInf(df, 1) {
			break
		}
		tail := studentTail(t, df)
		step := math.Log(tail/q) * tail / (t * studentPDF(t, df))
		t *= math.Exp(min(step, 100))
		if !(math.Abs(step) > 1e-9) {
			break
		}
	}
	return math.Copysign(t, p-0.5)
}

// hugeDF is where Student's t is taken as a corrected normal: the correction's error is of
// order 1/df^2, and that of the beta function grows with df (6e-10 of the tail here with arm64's fused
// multiplications, less with amd64's).
const hugeDF = 5e5

// studentTail is P(T > t) for t >= 0.
func studentTail(t, df float64) float64 {
	switch {
	case math.IsNaN(t) || !(df > 0):
		return math.NaN()
	case math.IsInf(t, 1):
		return 0
	case df > hugeDF:
		// Abramowitz and Stegun 1964, 26.7.8.
		return normalCDF(-t * (1 - 0.25/df) / math.Hypot(1, t/math.Sqrt(2*df)))
	}
	r := t / math.Sqrt(df) // not t*t, which overflows for df < 1
	return 0.5 * betaInc(df/2, 0.5, 1/(1+r*r), 1/(1+1/(r*r)))
}

// studentPDF is the density of Student's t.
func studentPDF(t, df float64) float64 {
	if df > hugeDF {
		return math.Exp(-t*t/2) / math.Sqrt(2*math.Pi)
	}
	r := t / math.Sqrt(df)
	return math.Exp(-(df+1)/2*math.Log1p(r*r)-mathext.Lbeta(df/2, 0.5)) / math.Sqrt(df)
}

// betaInc is the regularised incomplete beta function I_x(a,b), with y = 1-x
// passed beside x because one of them is often too close to 1 to be subtracted.
func betaInc(a, b, x, y float64) float64 {
	switch {
	case !(a > 0 && b > 0) || math.IsNaN(x+y):
		return math.NaN()
	case x > (a+1)/(a+b+2):
		return 1 - mathext.RegIncBeta(b, a, y)
	}
	return mathext.RegIncBeta(a, b, x)
}
