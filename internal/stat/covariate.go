package stat

import "math"

// Covariate fits y on x with block and arm fitted to both (analysis of covariance: Cochran
// 1957, Biometrics 13, p. 261). Y[b][a] and x[b][a] are the values of arm a in block b; a NaN
// in either leaves the window out. SE is that of windows that are independent.
func Covariate(y, x [][]float64) Estimate {
	if len(y) == 0 || len(x) != len(y) {
		return unknown(math.NaN(), 0)
	}
	one := make([]int, len(y))
	both := func(of, with [][]float64) *layout {
		w := Windows{Launch: one}
		for b, row := range of {
			kept := make([]float64, len(row))
			for a := range row {
				if kept[a] = row[a]; !finite(with[b][a]) {
					kept[a] = math.NaN()
				}
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
	ry, rx := ly.fit(ly.all, ly.y, nil).residual, lx.fit(lx.all, lx.y, nil).residual
	sxx := dot(rx, rx)
	if !(math.Sqrt(sxx) > 1e-12*lx.size) {
		return unknown(math.NaN(), len(ly.y))
	}
	slope := dot(rx, ry) / sxx
	rest := 0.0
	for i := range ry {
		d := ry[i] - slope*rx[i]
		rest += d * d
	}
	return withVariance(slope, rest/free/sxx, free, len(ly.y), magnitude(y[0]))
}
