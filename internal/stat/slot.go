package stat

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

const (
	// leastPairs is how many independent adjacent pairs make a variance.
	leastPairs = 5
	// mostIdle is the share of windows without any count above which a length is
	// not usable: its logarithms would be made up.
	mostIdle = 0.01
)

// SlotVariance is the variance of the log ratio of two adjacent windows of length
// seconds, from a trace of counts in consecutive steps of step seconds of one column
// running alone: pairs of windows as they would lie, each after discard seconds, at
// every offset of the trace. It is the variance that a mean trimmed by 10 % sees (Winsorised sum
// of squares / (h(h-1)) * n), so one hiccup does not decide. Windows without a count are
// taken as half a count. NaN where it cannot be told.
func SlotVariance(counts []float64, step, discard, length float64) float64 {
	total := cumulate(counts)
	n := int(math.Round(length / step))
	slot := int(math.Round(discard/step)) + n
	pairs := len(counts) + 1 - slot - n
	if n < 1 || pairs < 2*slot*leastPairs {
		return math.NaN()
	}
	idle := 0
	d := make([]float64, pairs)
	for i := range d {
		a, b := total[i+n]-total[i], total[i+slot+n]-total[i+slot]
		if a <= 0 {
			idle++
		}
		d[i] = math.Log(math.Max(b, 0.5)) - math.Log(math.Max(a, 0.5))
	}
	if float64(idle) > mostIdle*float64(pairs) {
		return math.NaN()
	}
	e := Trimmed(d, 0.1)
	return e.SE * e.SE * float64(e.N)
}

// cumulate is the running total, one longer than x and starting at 0.
func cumulate(x []float64) []float64 {
	total := make([]float64, len(x)+1)
	floats.CumSum(total[1:], x)
	return total
}
