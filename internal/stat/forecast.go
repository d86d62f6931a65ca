package stat

import "math"

// mostTime is the factor on the time beyond which nothing is foretold.
const mostTime = 1e6

// Alone is the level at which one contrast of a family has to be asked alone, so
// that all intervals of Family hold together at level.
func (f *Fit) Alone(cs [][]float64, level float64) float64 {
	return 1 - f.together(cs).each(1-level)
}

// Forecast is the total time, as a multiple of the time so far, after which the
// interval of c will have the half-width half: 1 if it has it now, +Inf if the
// multiple is above a million, NaN if it is unknown. level is that of the interval
// alone (see Alone).
//
// Forecast assumes that launches and windows go on in the same proportion: variances
// fall with the time, and their degrees of freedom grow with it. It depends on the
// interval's width, not on the estimate.
func (f *Fit) Forecast(c []float64, level, half float64) float64 {
	return f.forecast(c, level, half, 0.5)
}

// ForecastRange is the range in which the time lies in four of five runs: Forecast with
// the variances at their quantiles of 10 and 90 %.
func (f *Fit) ForecastRange(c []float64, level, half float64) (low, high float64) {
	return f.forecast(c, level, half, 0.1), f.forecast(c, level, half, 0.9)
}

// forecast is Forecast with the true variances at a quantile of their distribution.
func (f *Fit) forecast(c []float64, level, half, quantile float64) float64 {
	es := f.errorsOf(c)
	if es == nil || !(half > 0) || !(level > 0 && level < 1) {
		return math.NaN()
	}
	alpha := 1 - level
	if now, _ := es.half(alpha); now <= half {
		return 1
	}
	wide := func(factor float64) bool {
		later, _ := es.later(factor, quantile).half(alpha)
		return later > half
	}
	low, high := 1.0, 2.0
	for ; wide(high); low, high = high, 2*high {
		if high > mostTime {
			return math.Inf(1)
		}
	}
	for high > 1.01*low {
		if mid := math.Sqrt(low * high); wide(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

// later is what the errors will be after factor times the time, with the true variances
// at a quantile. What is known already stays as it is: the new part varies otherwise. An
// estimate of n degrees of freedom has a logarithm with the standard error sqrt(2/n).
func (es errors) later(factor, quantile float64) errors {
	out := make(errors, len(es))
	for i, e := range es {
		off := math.Exp(normalQuantile(quantile) * math.Sqrt(2/e.df))
		out[i] = oneError{e.variance * (1 + off*(factor-1)) / (factor * factor), e.df * factor}
	}
	return out
}
