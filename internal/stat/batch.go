package stat

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Batched is the mean of one series in time with an error that takes the
// correlation of neighbours into account.
type Batched struct {
	Estimate
	Batches int     // N of the estimate
	Size    int     // values in a batch; what does not fill the last one is left out of the error
	Left    float64 // autocorrelation of neighbouring batches; NaN where it is unknown
}

const (
	leastBatches = 10
	mostBatches  = 40
	// dependent is the one-sided p-value below which batches are not taken as
	// independent and are made longer.
	dependent = 0.3
	// mostLeft is the correlation of batches beyond which the series is too
	// short for its memory, and the error is not known.
	mostLeft = 0.7
)

// BatchMeans is the mean of a stationary series with the error of
// non-overlapping batch means: batches grow until they look independent or until
// there are 10, and what correlation is left widens the error by (1+r)/(1-r), with
// r corrected for its bias -(1+3r)/(k-1) (Kendall 1954, Biometrika 41, p. 403).
// After Tafazzoli, Steiger and Wilson 2011 (N-Skart, IEEE TAC 56, p. 254) without
// the correction for skewness. SE is NaN for fewer than 20 values, and when the
// series is too short for its memory. What is slower than the series cannot be
// seen in it: a drift makes every such error too small.
func BatchMeans(x []float64) Batched {
	out := Batched{Estimate: unknown(math.NaN(), 0), Left: math.NaN()}
	if len(x) == 0 || floats.HasNaN(x) {
		return out
	}
	out.Mean = average(x)
	if len(x) < 2*leastBatches {
		return out
	}
	size := (len(x) + mostBatches - 1) / mostBatches
	for ; ; size += (size + 1) / 2 {
		last := len(x)/(size+(size+1)/2) < leastBatches
		b := batch(x, size)
		if r := Lag1Within([][]float64{b}); last || !(r.Stat > 0 && r.P/2 < dependent) {
			k := float64(len(b))
			out.Batches, out.Size, out.Left = len(b), size, r.Stat
			left := r.Stat + (1+3*math.Max(0, r.Stat))/(k-1)
			variance := sumSquares(b, average(b)) / (k * (k - 1))
			out.Estimate = correlated(withVariance(out.Mean, variance, k-1, len(b), magnitude(x)), left)
			return out
		}
	}
}

// correlated widens the error of batches by their autocorrelation: they carry the degrees of
// freedom of fewer independent ones.
func correlated(e Estimate, autocorrelation float64) Estimate {
	r := math.Max(0, autocorrelation)
	if !(r < mostLeft) { // also NaN: all batches equal
		return unknown(e.Mean, e.N)
	}
	wider := (1 + r) / (1 - r)
	e.SE, e.DF = e.SE*math.Sqrt(wider), e.DF/wider
	return e
}

// batch is the means of consecutive groups of size values.
func batch(x []float64, size int) []float64 {
	out := make([]float64, len(x)/size)
	for i := range out {
		out[i] = average(x[i*size : (i+1)*size])
	}
	return out
}

// Trend is the change of a series from its beginning to its end by a straight
// line through its batches (Mean, in the units of x), with the same allowance for
// correlation as BatchMeans, from the residuals. SE is NaN for fewer than 20
// values or when the residuals are too much alike.
func Trend(x []float64) Estimate {
	if len(x) < 2*leastBatches || floats.HasNaN(x) {
		return unknown(math.NaN(), len(x))
	}
	b := batch(x, max(1, len(x)/(2*leastBatches)))
	k := float64(len(b))
	time := make([]float64, len(b)) // from the middle
	for i := range time {
		time[i] = float64(i) - (k-1)/2
	}
	sxx := floats.Dot(time, time)
	slope := floats.Dot(time, b) / sxx
	rest := floats.AddScaledTo(make([]float64, len(b)), b, -slope, time)
	left := Lag1Within([][]float64{rest}).Stat + 2/(k-1) // a line takes away twice what a mean does
	variance := sumSquares(rest, average(rest)) / (k - 2) / sxx
	return correlated(withVariance(slope*k, variance*k*k, k-2, len(b), magnitude(b)), left)
}

// Log is the estimate of ln(mean) from that of a positive mean, by the delta
// method: SE/mean.
func (e Estimate) Log() Estimate {
	if !(e.Mean > 0) {
		return unknown(math.NaN(), e.N)
	}
	e.Mean, e.SE = math.Log(e.Mean), e.SE/e.Mean
	return e
}
