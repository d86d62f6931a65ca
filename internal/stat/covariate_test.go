package stat

import (
	"math"
	"testing"
)

// The slope is that of windows about block and arm: what blocks share, and what arms differ by,
// plays no part.
func TestCovariate(t *testing.T) {
	rng := seeded(31)
	n, covered := 400, 0
	for range n {
		var y, x [][]float64
		for range 30 {
			block := rng.NormFloat64()
			yr, xr := make([]float64, 4), make([]float64, 4)
			for a := range yr {
				xr[a] = 0.5*block + float64(a) + 0.1*rng.NormFloat64()
				yr[a] = block - 0.3*float64(a) + 0.7*(xr[a]-0.5*block-float64(a)) + 0.05*rng.NormFloat64()
				if rng.Float64() < 0.1 {
					xr[a] = math.NaN()
				}
			}
			y, x = append(y, yr), append(x, xr)
		}
		if Covariate(y, x).At(0.95).Contains(0.7) {
			covered++
		}
	}
	within(t, "slope of a covariate: coverage", covered, n, 0.92, 0.98)
	same := [][]float64{{1, 2}, {1, 2}, {1, 2}}
	for _, e := range []Estimate{Covariate(nil, nil), Covariate(same, same[:1]), Covariate(same, same)} {
		if e.Known() {
			t.Errorf("nothing to fit: %+v", e)
		}
	}
}
