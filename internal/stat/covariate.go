package stat

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Covariate fits y on x with block and arm fitted to both (analysis of covariance: Cochran
// 1957, Biometrics 13, p. 261). Y[b][a] and x[b][a] are the values of arm a in block b; a NaN
// in either leaves the window out. SE is that of windows that are independent.
func Covariate(y, x [][]float64) Estimate {
	if len(y) == 0 || len(x) != len(y) {
		return unknown(math.NaN(), 0)
	}
	both := func(of, with [][]float64) *layout {
		w := Windows{Launch: make([]int, len(of))}
		for b, row := range of {
			kept := slices.Clone(row)
			for a, x := range with[b] {
				kept[a] += 0 * x // NaN where x is missing
			}
			w.Y = append(w.Y, kept)
		}
		return arrange(w)
	}
	ly, lx := both(y, x), both(x, y)
	free, _ := ly.freedom(ly.all)
	if free--; free < 1 {
		return unknown(math.NaN(), len(ly.y))
	}
	ry, rx := ly.unweighted(ly.all, ly.y).residual, lx.unweighted(lx.all, lx.y).residual
	sxx := floats.Dot(rx, rx)
	if !(math.Sqrt(sxx) > 1e-12*lx.size) {
		return unknown(math.NaN(), len(ly.y))
	}
	slope := floats.Dot(rx, ry) / sxx
	floats.AddScaled(ry, -slope, rx)
	return withVariance(slope, floats.Dot(ry, ry)/free/sxx, free, len(ly.y), magnitude(y[0]))
}
