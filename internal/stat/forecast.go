package stat

import "math"

// mostTime is the factor on the time beyond which nothing is foretold.
const mostTime = 1e6

// Alone is the level at which one contrast of a family has to be asked alone, so
// that all intervals of Family hold together at level.
func (f *Fit) Alone(cs [][]float64, level float64, questions int) float64 {
	return 1 - f.together(cs).each((1-level)/float64(max(questions, 1)))
}

// Forecast is the total time, as a multiple of the time so far, after which the
// interval of c will have the half-width half: 1 if it has it now, +Inf if the
// multiple is above a million, NaN if it is unknown. questions is the number of
// contrasts of the family (Bonferroni; 1 with the level of Alone).
//
// Forecast assumes that launches and windows go on in the same proportion. It depends
// on the interval's width, not on the estimate. The variances of windows and launches
// shrink with time, and each launch narrows the posterior of the launch variance.
// Forecast takes the posterior that is expected if the launch variance is the median
// of its present posterior. The width grows with that variance, so the forecast is the
// median forecast.
func (f *Fit) Forecast(c []float64, level float64, questions int, half float64) float64 {
	return f.forecast(c, level, questions, half, 0.5, 0)
}

// ForecastRange is the range in which the time lies in four of five runs: Forecast with
// the launch variance at a low and at a high quantile of its posterior, and with the
// windows' variance lower and higher by its own error.
func (f *Fit) ForecastRange(c []float64, level float64, questions int, half float64) (low, high float64) {
	return f.forecast(c, level, questions, half, soonQuantile, -windowErrors),
		f.forecast(c, level, questions, half, lateQuantile, windowErrors)
}

// soonQuantile and lateQuantile are those of the launch SD that a range of
// forecasts is made of, and windowErrors the standard errors of the windows' variance;
// found by simulation (TestForecast).
const soonQuantile, lateQuantile, windowErrors = 0.07, 0.93, 1.28

// forecast is Forecast with the launch SD at a quantile, and the windows' variance
// other than estimated by so many of its standard errors.
func (f *Fit) forecast(c []float64, level float64, questions int, half, quantile, errors float64) float64 {
	if !f.estimable(c) || !(half > 0) || !(level > 0 && level < 1) {
		return math.NaN()
	}
	v := f.variance(c)
	if !v.known() {
		return math.NaN()
	}
	alpha := (1 - level) / float64(max(questions, 1))
	now := f.launch.quantile(quantile)
	off := math.Exp(errors * f.errorOfWindow(c))
	wide := func(factor float64) bool { return f.later(v, factor, now, off).half(alpha) > half }
	if f.launch.around(v).half(alpha) <= half {
		return 1
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

// errorOfWindow is the standard error of the logarithm of the windows' variance of
// a contrast, from how it is made up of blocks; noise that comes in bursts has a
// large one.
func (f *Fit) errorOfWindow(c []float64) float64 {
	sum, square, n := 0.0, 0.0, 0.0
	for _, s := range f.Scores {
		if s != nil {
			x := dot(c, s)
			sum, square, n = sum+x*x, square+x*x*x*x, n+1
		}
	}
	return math.Sqrt(math.Max(square/(sum*sum)-1/n, 0))
}

// later is what the mixture of a contrast will be like after factor times the
// time, with the launch SD now and with windows that vary off times as much. More
// launches add to the log likelihood of sd, for each degree of freedom, -1/2 (ln
// s^2 + s0^2/s^2) with s^2 = sd^2 + each and s0 at now.
func (f *Fit) later(v spread, factor, now, off float64) mixture {
	// What is known already stays as it is: the new part varies otherwise.
	v.window *= (1 + off*(factor-1)) / (factor * factor)
	v.gain /= factor
	v.df *= factor
	launch := f.launch
	if more := float64(f.Launches) * (factor - 1) * (f.arms - 1); more > 0 && launch.likelihood != nil {
		expected := make([]float64, len(launch.sd))
		for i, sd := range launch.sd {
			s2 := sd*sd + f.each
			expected[i] = launch.likelihood[i] - 0.5*more*(math.Log(s2)+(now*now+f.each)/s2)
		}
		launch = weighLaunches(launch.sd, expected, float64(f.Launches)*factor)
	}
	return launch.around(v)
}
