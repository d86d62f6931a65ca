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
	return e.SE > 0 && e.DF > 0 && !math.IsInf(e.SE, 0) && !math.IsNaN(e.Mean) && !math.IsInf(e.Mean, 0)
}

// Interval is Mean -+ crit*SE; the whole line when SE is not known.
func (e Estimate) Interval(crit float64) Interval {
	if !e.Known() || math.IsNaN(crit) {
		return Interval{math.Inf(-1), math.Inf(1)}
	}
	return Interval{e.Mean - crit*e.SE, e.Mean + crit*e.SE}
}

// At is the two-sided interval at a confidence level such as 0.95.
func (e Estimate) At(level float64) Interval { return e.Interval(e.Crit(level)) }

// Crit is Student's two-sided critical value at a confidence level; NaN when SE
// is not known.
func (e Estimate) Crit(level float64) float64 {
	if !e.Known() {
		return math.NaN()
	}
	return StudentQuantile(1-(1-level)/2, e.DF)
}

// PValue is the two-sided p-value of Mean = 0; NaN when SE is not known.
func (e Estimate) PValue() float64 {
	if !e.Known() {
		return math.NaN()
	}
	return 2 * studentTail(math.Abs(e.Mean/e.SE), e.DF)
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
