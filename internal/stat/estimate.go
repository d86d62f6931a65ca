package stat

import "math"

// Estimate is a mean with what is needed to put an interval around it.
type Estimate struct {
	Mean float64 // NaN when there is no value at all
	SE   float64 // standard error of Mean; NaN when the data cannot tell, never 0
	DF   float64 // degrees of freedom of SE, may be fractional or +Inf; 0 when SE is NaN
	N    int     // observations (rows or generations, whichever vary independently)
}

// Known tells whether the estimate has a usable standard error.
func (e Estimate) Known() bool {
	return e.SE > 0 && e.DF > 0 && finite(e.SE) && finite(e.Mean)
}

// Interval is Mean -+ crit*SE; the whole line when SE is not known.
func (e Estimate) Interval(crit float64) Interval {
	if !e.Known() || math.IsNaN(crit) {
		return Interval{math.Inf(-1), math.Inf(1)}
	}
	return Interval{e.Mean - crit*e.SE, e.Mean + crit*e.SE}
}

// At is the two-sided interval at a confidence level such as 0.95.
func (e Estimate) At(level float64) Interval {
	return e.Interval(StudentQuantile(1-(1-level)/2, e.DF))
}

// PValue is the two-sided p-value of Mean = 0; NaN when SE is not known.
func (e Estimate) PValue() float64 {
	if !e.Known() {
		return math.NaN()
	}
	return 2 * studentTail(math.Abs(e.Mean/e.SE), e.DF)
}

// Difference is the estimate of a - b where the two come from independent data:
// variances add, and the degrees of freedom of their sum are those of Welch and
// Satterthwaite,
//
//	(va + vb)^2 / (va^2/dfa + vb^2/dfb),  v = SE^2
//
// (Satterthwaite 1946, Biometrics Bull. 2, p. 110; Welch 1947, Biometrika 34,
// p. 28). Not known when either is not.
func Difference(a, b Estimate) Estimate {
	d := Estimate{Mean: a.Mean - b.Mean, SE: math.NaN(), N: a.N + b.N}
	if !a.Known() || !b.Known() {
		return d
	}
	// The conversions forbid a fused multiplication (arm64), with which the order of a and b would matter.
	va, vb := float64(a.SE*a.SE), float64(b.SE*b.SE)
	d.SE = math.Sqrt(va + vb)
	// In shares of the sum, so that tiny variances do not underflow.
	sa, sb := va/(va+vb), vb/(va+vb)
	d.DF = 1 / (sa*sa/a.DF + sb*sb/b.DF)
	return d
}

// Interval is a closed interval; unbounded where nothing is known.
type Interval struct{ Lo, Hi float64 }

// Half is the half-width, +Inf for an unbounded interval.
func (i Interval) Half() float64 { return (i.Hi - i.Lo) / 2 }

// Inside tells whether the whole interval lies strictly inside -+margin.
func (i Interval) Inside(margin float64) bool { return i.Lo > -margin && i.Hi < margin }

// Beyond tells whether the whole interval lies strictly outside -+margin, on one
// side of it; Beyond(0) is "excludes 0".
func (i Interval) Beyond(margin float64) bool { return i.Lo > margin || i.Hi < -margin }

// unknown is the estimate of which only the centre can be given.
func unknown(mean float64, n int) Estimate {
	return Estimate{Mean: mean, SE: math.NaN(), N: n}
}

// withVariance builds an estimate from the variance of its mean. A variance that
// is 0, or only rounding at the given magnitude of the data, says that the data
// cannot tell (equal values, a counter that stood still), not that the mean is
// certain.
func withVariance(mean, variance, df float64, n int, magnitude float64) Estimate {
	se := math.Sqrt(variance)
	if !(df > 0) || !(se > 1e-14*magnitude) || math.IsInf(se, 0) || math.IsNaN(mean) {
		return unknown(mean, n)
	}
	return Estimate{Mean: mean, SE: se, DF: df, N: n}
}

// MDE is the smallest true effect that a two-sided 95 % interval of half-width
// half excludes 0 for with the given power: half*(z(0.975)+z(power))/z(0.975),
// thus 1.43 half at 80 % and 1.65 half at 90 % (Bloom 1995, Eval. Rev. 19,
// p. 547). Unit of half.
func MDE(half, power float64) float64 {
	z := normalQuantile(0.975)
	return half * (z + normalQuantile(power)) / z
}
