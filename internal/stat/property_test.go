package stat

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// sample draws n to 80 values that are not all alike.
func sample(t *rapid.T, least int) []float64 {
	x := rapid.SliceOfN(rapid.Float64Range(-10, 10), least, 80).Draw(t, "x")
	x[0] += 11 // at least two values differ
	return x
}

func mapped(x []float64, f func(float64) float64) []float64 {
	y := make([]float64, len(x))
	for i := range x {
		y[i] = f(x[i])
	}
	return y
}

// locations are the estimators that have to behave like a mean.
func locations() map[string]func([]float64) Estimate {
	return map[string]func([]float64) Estimate{
		"Mean":      Mean,
		"Trimmed":   func(x []float64) Estimate { return Trimmed(x, 0.1) },
		"Trimmed 0": func(x []float64) Estimate { return Trimmed(x, 0) },
	}
}

func TestLocationEquivariance(t *testing.T) {
	for name, of := range locations() {
		rapid.Check(t, func(t *rapid.T) {
			x := sample(t, 4)
			shift := rapid.Float64Range(-5, 5).Draw(t, "shift")
			scale := rapid.Float64Range(0.01, 100).Draw(t, "scale")
			e := of(x)
			if !e.Known() || e.SE < 1e-6 {
				t.Skip("no scatter")
			}
			moved := of(mapped(x, func(v float64) float64 { return scale*v + shift }))
			near(t, name+" mean", moved.Mean, scale*e.Mean+shift, 1e-9)
			near(t, name+" SE", moved.SE, scale*e.SE, 1e-6)
			near(t, name+" df", moved.DF, e.DF, 1e-9)
			mirror := of(mapped(x, func(v float64) float64 { return -v }))
			near(t, name+" mirrored", mirror.Mean, -e.Mean, 1e-9)
			near(t, name+" p", mirror.PValue(), e.PValue(), 1e-9)
		})
	}
}

func TestPermutationInvariance(t *testing.T) {
	for name, of := range locations() {
		rapid.Check(t, func(t *rapid.T) {
			x := sample(t, 3)
			y := rapid.Permutation(x).Draw(t, "order")
			near(t, name+" mean", of(y).Mean, of(x).Mean, 1e-9)
			near(t, name+" SE", of(y).SE, of(x).SE, 1e-9)
		})
	}
}

func TestInputsAreNotTouched(t *testing.T) {
	x := []float64{3, 1, 2, 9, 4, 7, 8, 5, 6, 0, 11}
	before := slices.Clone(x)
	Trimmed(x, 0.1)
	Disagreement(x, 0.1)
	BenjaminiHochberg(x)
	if !slices.Equal(x, before) {
		t.Error("input changed")
	}
}

func TestMeanIsTrimmedByNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := sample(t, 3)
		m := locations()
		near(t, "trimmed", m["Trimmed 0"](x).SE, Mean(x).SE, 1e-9)
	})
}

// The same values give the same digits, wherever they lie in memory.
func TestSumsRepeat(t *testing.T) {
	rng, buffer := seeded(6), make([]float64, 41)
	for range 100 {
		x, y := buffer[:40], buffer[1:]
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		first, m := sumOf(x), Mean(x).SE
		copy(y, x)
		if sumOf(y) != first || Mean(y).SE != m {
			t.Fatalf("%v and %v", sumOf(y), first)
		}
	}
}

func TestIntervalsNest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := Trimmed(sample(t, 3), 0.1)
		low := rapid.Float64Range(0.1, 0.98).Draw(t, "low")
		high := rapid.Float64Range(low, 0.999).Draw(t, "high")
		in, out := e.At(low), e.At(high)
		if in.Lo < out.Lo || in.Hi > out.Hi || !in.Contains(e.Mean) && e.Known() {
			t.Errorf("%v not in %v", in, out)
		}
		if e.Known() && out.Contains(0) != (e.PValue() >= 1-high) && math.Abs(e.PValue()-(1-high)) > 1e-9 {
			t.Errorf("p %v against %v", e.PValue(), out)
		}
	})
}

func TestUnknownIsNeverCertain(t *testing.T) {
	constant := slices.Repeat([]float64{0.1}, 30)
	mostly := append(slices.Clone(constant), 5, -5)
	for name, e := range map[string]Estimate{
		"none":               Mean(nil),
		"none trimmed":       Trimmed(nil, 0.1),
		"one":                Mean([]float64{3}),
		"one trimmed":        Trimmed([]float64{3}, 0.1),
		"all equal":          Mean(constant),
		"equal when trimmed": Trimmed(mostly, 0.1),
		"NaN":                Trimmed([]float64{1, math.NaN(), 2, 3}, 0.1),
		"NaN mean":           Mean([]float64{1, math.NaN(), 2}),
		"infinite":           Mean([]float64{1, math.Inf(1), 2}),
		"over-trimmed":       Trimmed([]float64{1, 2, 3, 4}, 0.5),
		"zero value":         {},
	} {
		if i := e.At(0.95); e.Known() || !math.IsInf(i.Half(), 1) || i.Beyond(0) || !i.Contains(1e9) {
			t.Errorf("%s: %+v has interval %v", name, e, i)
		}
		if !math.IsNaN(e.PValue()) {
			t.Errorf("%s: %+v leads to a decision", name, e)
		}
	}
}

func TestTwoValues(t *testing.T) {
	e := Trimmed([]float64{1, 2}, 0.1)
	near(t, "df", e.DF, 1, 0)
	near(t, "half-width", e.At(0.95).Half(), 12.706204736432095*0.5, 1e-9)
}

func TestBenjaminiHochbergProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SliceOfN(rapid.Float64Range(0, 1), 1, 40).Draw(t, "p")
		a := BenjaminiHochberg(p)
		for i := range p {
			if a[i] < p[i] || a[i] > math.Min(1, p[i]*float64(len(p)))+1e-12 {
				t.Errorf("%v adjusted to %v, not between itself and Bonferroni", p[i], a[i])
			}
			for j := range p {
				if p[i] < p[j] && a[i] > a[j] {
					t.Errorf("order changed: %v,%v to %v,%v", p[i], p[j], a[i], a[j])
				}
			}
		}
	})
	got := BenjaminiHochberg([]float64{math.NaN(), 0.01, 0.02})
	near(t, "NaN stays", got[0], math.NaN(), 0)
	near(t, "NaN counts", got[1], 0.03, 1e-12)
}
