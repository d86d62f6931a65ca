package stat

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// BenjaminiHochberg returns the p-values adjusted for the false discovery rate:
// rejecting those <= q keeps the expected share of false rejections below q for
// independent or positively dependent tests (Benjamini and Hochberg 1995, JRSS B
// 57, p. 293). A NaN stays NaN and counts as a test that found nothing.
func BenjaminiHochberg(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	rank := func(i int) float64 {
		if math.IsNaN(p[i]) {
			return math.Inf(1)
		}
		return p[i]
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rank(a), rank(b)) })
	out := slices.Clone(p)
	least, m := 1.0, float64(len(p))
	for r := len(order); r > 0; r-- {
		if i := order[r-1]; !math.IsNaN(p[i]) {
			least = math.Min(least, p[i]*(m/float64(r)))
			out[i] = least
		}
	}
	return out
}

// ClopperPearson is the exact interval of a proportion from hits out of n
// (Clopper and Pearson 1934, Biometrika 26, p. 404); [0, 1] for n = 0.
func ClopperPearson(hits, n int, level float64) Interval {
	tail := (1 - level) / 2
	i := Interval{0, 1}
	if hits > 0 {
		i.Lo = mathext.InvRegIncBeta(float64(hits), float64(n-hits+1), tail)
	}
	if hits < n {
		i.Hi = mathext.InvRegIncBeta(float64(hits+1), float64(n-hits), 1-tail)
	}
	return i
}
