package stat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// One distribution cut in two must rarely look like two modes, whatever the
// number of values; two modes must be found.
func TestTwoModesOfOneDistribution(t *testing.T) {
	const replicates = 2000
	for name, draw := range map[string]func(*rand.Rand) float64{
		"normal":      (*rand.Rand).NormFloat64,
		"uniform":     (*rand.Rand).Float64,
		"exponential": (*rand.Rand).ExpFloat64,
	} {
		for _, n := range []int{10, 12, 20, 50, 300, 1800} {
			if n > 300 && quick() {
				continue
			}
			rng := rand.New(rand.NewPCG(uint64(n), 7))
			hits := 0
			x := make([]float64, n)
			for range replicates {
				for i := range x {
					x[i] = draw(rng)
				}
				if FindModes(x).Two(n) {
					hits++
				}
			}
			most := 0.02
			if name == "exponential" {
				most = 0.07
			}
			within(t, fmt.Sprintf("two modes in %d values, %s", n, name), hits, replicates, 0, most)
		}
	}
}

func TestTwoModesAreFound(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	x := make([]float64, 600)
	for i := range x {
		x[i] = 100 + 3*rng.NormFloat64()
		if i/20%3 == 0 {
			x[i] += 90
		}
	}
	m := FindModes(x)
	if !m.Two(len(x)) || math.Abs(m.Low-100) > 1 || math.Abs(m.High-190) > 1 || math.Abs(m.Share-1.0/3) > 0.01 || m.Switches != 19 {
		t.Errorf("%+v", m)
	}
}

// The published rates of a MySQL in a BestEffort pod.
func TestTwoModesPublished(t *testing.T) {
	x := []float64{10561.88, 10552.00, 10566.00, 10581.08, 12873.80, 20196.89, 18033.21, 11444.08, 10597.96, 10566.00, 10640.07, 10579.04}
	if m := FindModes(x); !m.Two(len(x)) || m.Switches != 2 || math.Abs(m.High-19115) > 1 {
		t.Errorf("%+v", m)
	}
}

func TestModesOfLittle(t *testing.T) {
	same := make([]float64, 30)
	two := append(make([]float64, 10), 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)
	for name, x := range map[string][]float64{"none": nil, "few": {1, 2, 1, 2}, "equal": same, "NaN": append([]float64{math.NaN()}, same...)} {
		if m := FindModes(x); m.Two(len(x)) || m.Apart != 0 {
			t.Errorf("%s: %+v", name, m)
		}
	}
	if m := FindModes(two); !m.Two(len(two)) || !math.IsInf(m.Apart, 1) || m.Share != 0.5 {
		t.Errorf("two values: %+v", m)
	}
}

func TestGrubbsVectors(t *testing.T) {
	for _, c := range readVectors(t).Grubbs {
		i, p := Grubbs(c.X)
		if i != c.Index {
			t.Errorf("%v: index %d, want %d", c.X, i, c.Index)
		}
		near(t, fmt.Sprintf("p of %v", c.X), p, c.P, 1e-9)
	}
	for _, x := range [][]float64{nil, {1, 2, 9}, {3, 3, 3, 3, 3}} {
		if i, p := Grubbs(x); i != -1 || !math.IsNaN(p) {
			t.Errorf("%v: %d, %v", x, i, p)
		}
	}
}

func TestWelchVectors(t *testing.T) {
	for _, c := range readVectors(t).Welch {
		e := Difference(Mean(c.A), Mean(c.B))
		near(t, "difference", e.Mean, c.Mean, 1e-10)
		near(t, "df", e.DF, c.DF, 1e-9)
		near(t, "p", e.PValue(), c.P, 1e-9)
		near(t, "lo", e.At(0.95).Lo, c.Lo, 1e-9)
		near(t, "hi", e.At(0.95).Hi, c.Hi, 1e-9)
	}
	if e := Difference(Mean([]float64{1}), Mean([]float64{1, 2})); e.Known() || e.Mean != -0.5 {
		t.Errorf("one value: %+v", e)
	}
}

// Welch's interval of the runs of two arms: what an arm with two or three runs
// claims has to hold.
func TestWelchCoverage(t *testing.T) {
	for _, n := range [][2]int{{2, 2}, {3, 3}, {3, 8}, {5, 5}} {
		rng := rand.New(rand.NewPCG(uint64(n[0]), uint64(n[1])))
		c := tally{}
		for range replicates() {
			a, b := make([]float64, n[0]), make([]float64, n[1])
			for i := range a {
				a[i] = 0.02 + 0.03*rng.NormFloat64()
			}
			for i := range b {
				b[i] = 0.01 * rng.NormFloat64()
			}
			c.add(Difference(Mean(a), Mean(b)).At(0.95), 0.02)
		}
		within(t, fmt.Sprintf("coverage with %v runs", n), c.covers, c.n, 0.93, 1)
	}
}
