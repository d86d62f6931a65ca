package stat

import "math"

const (
	// slotTrim is the trimming of the estimator that the slots are chosen for.
	slotTrim = 0.1
	// leastPairs is how many independent adjacent pairs make a variance.
	leastPairs = 5
	// mostIdle is the share of windows without any count above which a length is
	// not usable: its logarithms would be made up.
	mostIdle = 0.01
)

// SlotVariance is the variance of the log ratio of two adjacent windows of length
// seconds, from a trace of counts in consecutive steps of step seconds of one column
// running alone: pairs of windows as they would lie, each after discard seconds, at
// every offset of the trace. It is the variance that a trimmed mean sees (Winsorised sum
// of squares / (h(h-1)) * n), so one hiccup does not decide. Windows without a count are
// taken as half a count. NaN where it cannot be told.
func SlotVariance(counts []float64, step, discard, length float64) float64 {
	skip := int(math.Round(discard / step))
	return pairVariance(cumulate(counts), skip, int(math.Round(length/step)))
}

// cumulate is the running total, one longer than x and starting at 0.
func cumulate(x []float64) []float64 {
	total := make([]float64, len(x)+1)
	for i, v := range x {
		total[i+1] = total[i] + v
	}
	return total
}

// pairVariance is the variance of the log ratio of two windows of length steps,
// the second after skip more; NaN when the trace is too short or too idle.
func pairVariance(total []float64, skip, length int) float64 {
	slot := skip + length
	pairs := len(total) - slot - length
	if length < 1 || pairs < 2*slot*leastPairs {
		return math.NaN()
	}
	idle := 0
	d := make([]float64, pairs)
	for i := range d {
		a, b := total[i+length]-total[i], total[i+slot+length]-total[i+slot]
		if a <= 0 {
			idle++
		}
		d[i] = math.Log(math.Max(b, 0.5)) - math.Log(math.Max(a, 0.5))
	}
	if float64(idle) > mostIdle*float64(pairs) {
		return math.NaN()
	}
	e := Trimmed(d, slotTrim)
	return e.SE * e.SE * float64(e.N)
}
