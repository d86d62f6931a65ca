package stat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// Welch's F of these data by his formula, in Python's statistics module; the
// tail by SciPy (stats.f.sf).
func TestDifferByHand(t *testing.T) {
	s := Differ([]Estimate{
		Mean([]float64{-0.031, -0.024, -0.052, -0.018, -0.040}),
		Mean([]float64{-0.012, 0.006, -0.019, -0.004, 0.001, -0.027, 0.008, -0.010}),
		Mean([]float64{-0.05, 0.02, -0.01, -0.03}),
	})
	near(t, "Q", s.Q, 12.259182661503571, 1e-10)
	near(t, "F", s.F, 5.5296431218711835, 1e-10)
	near(t, "df", s.DF2, 6.144578304171205, 1e-10)
	near(t, "p", s.P, 0.04229366030972515, 1e-12)
}

func TestFisherVectors(t *testing.T) {
	for _, c := range readVectors(t).Fisher {
		near(t, fmt.Sprintf("P(F > %v) with %v and %v", c.F, c.DF1, c.DF2), fisherTail(c.F, c.DF1, c.DF2), c.Tail, 1e-9)
	}
}

// Of two, Welch's F is the square of his t.
func TestDifferOfTwo(t *testing.T) {
	a, b := Mean([]float64{-0.03, -0.02, -0.05, -0.01}), Mean([]float64{0.01, 0.02, -0.01, 0.03, 0.02})
	s, d := Differ([]Estimate{a, b}), Difference(a, b)
	near(t, "F", s.F, d.Mean*d.Mean/(d.SE*d.SE), 1e-12)
	near(t, "p", s.P, d.PValue(), 1e-9)
	if got := Outliers([]Estimate{a, b}, 0.5); len(got) > 0 {
		t.Errorf("of two, one is odd: %+v", got)
	}
	near(t, "against", againstOthers([]Estimate{a, b}).DF, d.DF, 1e-12)
}

// againstOthers is the first estimate minus the mean of the others.
func againstOthers(e []Estimate) Estimate { return Difference(e[0], LeaveOneOutMean(e, 0)) }

func TestPlacesUnknown(t *testing.T) {
	known, not := Estimate{Mean: 1, SE: 0.1, DF: 5, N: 6}, Estimate{Mean: 9, SE: math.NaN()}
	if s := Differ([]Estimate{known, not}); !math.IsNaN(s.P) {
		t.Errorf("%+v", s)
	}
	if d := againstOthers([]Estimate{known, not}); d.Known() {
		t.Errorf("%+v", d)
	}
	if got := Outliers([]Estimate{known, not, known}, 0.5); len(got) > 0 {
		t.Errorf("%+v", got)
	}
}

// place is an estimate from n launches with a true mean.
func place(r *rand.Rand, mean, sd float64, n int) Estimate {
	x := make([]float64, n)
	for i := range x {
		x[i] = mean + sd*r.NormFloat64()
	}
	return Mean(x)
}

// When nothing differs a place is called odd in at most 5 % of the cases. The
// test itself rejects in about 5 %, a little more with many places of few
// launches; Cochran's Q, read as chi-squared, would not do.
func TestOutliersFalse(t *testing.T) {
	for i, c := range []struct {
		name string
		k, n int
		sd   func(int) float64
	}{
		{"3 places, 5 launches", 3, 5, func(int) float64 { return 0.02 }},
		{"3 places, one noisy", 3, 5, func(i int) float64 { return []float64{0.01, 0.01, 0.05}[i] }},
		{"5 places, 8 launches", 5, 8, func(int) float64 { return 0.02 }},
		{"8 places, noise in steps", 8, 6, func(i int) float64 { return 0.01 * float64(1+i%3) }},
	} {
		r := rand.New(rand.NewPCG(2026, uint64(i)))
		n, rejects, named, naive := replicates(), 0, 0, 0
		for range n {
			e := make([]Estimate, c.k)
			for j := range e {
				e[j] = place(r, -0.05, c.sd(j), c.n)
			}
			s := Differ(e)
			if s.P <= 0.05 {
				rejects++
			}
			if fisherTail(s.Q/s.DF1, s.DF1, hugeDF) <= 0.05 {
				naive++
			}
			if len(Outliers(e, 0.05)) > 0 {
				named++
			}
		}
		within(t, c.name+": Welch rejects", rejects, n, 0.035, 0.075)
		within(t, c.name+": one is named", named, n, 0, 0.055)
		within(t, c.name+": Q as chi-squared", naive, n, 0.07, 1)
	}
}

// One place that is off is named, and no other with it.
func TestOutliersFound(t *testing.T) {
	r := rand.New(rand.NewPCG(2026, 9))
	n, right, wrong := replicates(), 0, 0
	for range n {
		e := make([]Estimate, 5)
		for j := range e {
			e[j] = place(r, -0.02, 0.02, 6)
		}
		e[3] = place(r, -0.10, 0.02, 6)
		for _, o := range Outliers(e, 0.05) {
			if o.Index == 3 {
				right++
			} else {
				wrong++
			}
		}
	}
	within(t, "the odd one is named", right, n, 0.9, 1)
	within(t, "another is named", wrong, n, 0, 0.06)
}
