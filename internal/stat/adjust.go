package stat

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// BenjaminiHochberg returns the p-values adjusted for the false discovery rate:
// rejecting those <= q keeps the expected share of false rejections below q for
// independent or positively dependent tests (Benjamini and Hochberg 1995, JRSS B
// 57, p. 293). A NaN stays NaN and counts as a test that found nothing.
func BenjaminiHochberg(p []float64) []float64 {
	out, sorted, order := slices.Clone(p), slices.Clone(p), make([]int, len(p))
	for i, x := range sorted {
		if math.IsNaN(x) {
			sorted[i] = math.Inf(1)
		}
	}
	floats.Argsort(sorted, order)
	least, m := 1.0, float64(len(p))
	for r := len(order) - 1; r >= 0; r-- {
		if i := order[r]; !math.IsNaN(p[i]) {
			least = math.Min(least, p[i]*(m/float64(r+1)))
			out[i] = least
		}
	}
	return out
}
