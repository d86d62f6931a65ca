package stat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// Eight columns and a control under the noise model itself.
func TestFamilyUnderNoise(t *testing.T) {
	const k = 8
	for _, g := range []int{5, 8} {
		rng := seeded(uint64(400 + g))
		any, n, covers, width := 0, replicates()/2, 0, 0.0
		for range n {
			machine := newNoise(regimes()[1], rng)
			columns := make([][]float64, k)
			for range g {
				for j, d := range machine.differences(k+1, rowsEach, launchSD) {
					columns[j] = append(columns[j], trimmed(d).Mean)
				}
			}
			hit := false
			for _, e := range Family(columns) {
				interval := e.At(together(k))
				hit = hit || !interval.Contains(0)
				width += interval.Half() / float64(n*k)
				if e.At(0.95).Contains(0) {
					covers++
				}
			}
			if hit {
				any++
			}
		}
		within(t, fmt.Sprintf("shared, G=%d, 8 columns (+-%.2f %%): any false", g, 100*width), any, n, 0.02, 0.07)
		within(t, fmt.Sprintf("shared, G=%d, 8 columns: coverage one by one", g), covers, n*k, 0.93, 0.975)
	}
}

// family is k columns of G differences with the given SDs of control (sd[0]) and
// columns, all true effects 0.
func family(rng *rand.Rand, g int, sd []float64) [][]float64 {
	d := make([][]float64, len(sd)-1)
	for range g {
		control := sd[0] * rng.NormFloat64()
		for j := range d {
			d[j] = append(d[j], sd[j+1]*rng.NormFloat64()-control)
		}
	}
	return d
}

// together is the level of each of k intervals that hold together at 95 %
// (Bonferroni).
func together(k int) float64 { return 1 - 0.05/float64(k) }

// scatter is a way in which the SDs of the columns differ.
type scatter struct {
	name string
	of   func(rng *rand.Rand, sd []float64)
}

func scatters() []scatter {
	one := func(at int, to float64) func(*rand.Rand, []float64) {
		return func(_ *rand.Rand, sd []float64) { sd[at] = to }
	}
	return []scatter{
		{"equal", one(1, 1)},
		{"one 3 x", one(1, 3)},
		{"one 6 x", one(1, 6)},
		{"control 3 x", one(0, 3)},
		{"two 3 x", func(_ *rand.Rand, sd []float64) { sd[1], sd[2] = 3, 3 }},
		{"0.5 to 2 x", func(rng *rand.Rand, sd []float64) {
			for i := range sd {
				sd[i] = math.Exp2(2*rng.Float64() - 1)
			}
		}},
	}
}

// familyError returns how many of the families have any interval without 0, how
// many have the first (the noisy column) without it, and the average half-width in
// true standard errors.
func familyError(rng *rand.Rand, families, g, k int, s scatter) (any, first int, width float64) {
	for range families {
		sd := make([]float64, k+1)
		for i := range sd {
			sd[i] = 1
		}
		s.of(rng, sd)
		hit := false
		for i, e := range Family(family(rng, g, sd)) {
			interval := e.At(together(k))
			width += interval.Half() / math.Sqrt((sd[0]*sd[0]+sd[i+1]*sd[i+1])/float64(g)) / float64(k*families)
			if !interval.Contains(0) {
				hit = true
				if i == 0 {
					first++
				}
			}
		}
		if hit {
			any++
		}
	}
	return any, first, width
}

// The error of any of k columns at 95 %, over few rows, when the SDs of columns
// and control are equal and when they are not.
func TestFamilyError(t *testing.T) {
	families := replicates() / 2
	for _, g := range []int{3, 5, 6, 8, 12} {
		for _, k := range []int{2, 4, 8, 10} {
			for i, s := range scatters() {
				rng := seeded(uint64(1000*g + 10*k + i))
				any, first, width := familyError(rng, families, g, k, s)
				what := fmt.Sprintf("G=%d k=%d %s (first %.1f %%, width %.2f)", g, k, s.name, 100*float64(first)/float64(families), width)
				hi := 0.07
				if g < 5 {
					hi = 0.08
				}
				within(t, what, any, families, 0.015, hi)
			}
		}
	}
}
