package stat

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// SciPy 1.17.1, scipy.stats.ttest_ind(a, b, equal_var=False) of these data.
func TestDifferenceAgainstSciPy(t *testing.T) {
	a := Mean([]float64{-0.031, -0.024, -0.052, -0.018, -0.040})
	b := Mean([]float64{-0.012, 0.006, -0.019, -0.004, 0.001, -0.027, 0.008, -0.010})
	d := Difference(a, b)
	near(t, "t", d.Mean/d.SE, -3.49986727399747, 1e-11)
	near(t, "df", d.DF, 7.993783221705868, 1e-11)
	near(t, "p", d.PValue(), 0.008090561211028404, 1e-11)
	i := d.At(0.95)
	near(t, "low", i.Lo, -0.04292591379014293, 1e-11)
	near(t, "high", i.Hi, -0.008824086209857075, 1e-11)
}

// The degrees of freedom lie between the smaller one and the sum, the order
// only changes the sign, and what is not known stays so.
func TestDifferenceProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) Estimate {
			return Estimate{
				Mean: rapid.Float64Range(-1, 1).Draw(t, name+" mean"), SE: math.Exp(rapid.Float64Range(-200, 2).Draw(t, name+" SE")),
				DF: rapid.Float64Range(1, 1e9).Draw(t, name+" df"), N: rapid.IntRange(2, 40).Draw(t, name+" n"),
			}
		}
		a, b := draw("a"), draw("b")
		d, r := Difference(a, b), Difference(b, a)
		if least, sum := math.Min(a.DF, b.DF), a.DF+b.DF; !(d.DF > 0.999999*least && d.DF < 1.000001*sum) {
			t.Fatalf("df %g of %g and %g", d.DF, a.DF, b.DF)
		}
		if d.Mean != -r.Mean || d.SE != r.SE || math.Abs(d.DF-r.DF) > 1e-9*d.DF || d.SE < math.Max(a.SE, b.SE)*0.999999 {
			t.Fatalf("%+v and %+v", d, r)
		}
		if Difference(a, Estimate{Mean: 1, SE: math.NaN(), N: 1}).Known() || Difference(Estimate{}, b).Known() {
			t.Fatal("known without an error")
		}
	})
}

// Two runs with few generations each, as noisy or very differently noisy: the
// interval of the difference covers the truth as often as it says. Welch's
// degrees of freedom are an approximation; with 5 generations on either side it
// is a little wide.
func TestDifferenceCovers(t *testing.T) {
	for _, c := range []struct {
		name   string
		na, nb int
		sa, sb float64
	}{
		{"5 and 5, alike", 5, 5, 0.02, 0.02},
		{"5 and 8, alike", 5, 8, 0.02, 0.02},
		{"5 noisy and 12 quiet", 5, 12, 0.09, 0.012},
		{"5 quiet and 12 noisy", 5, 12, 0.012, 0.09},
		{"20 and 20", 20, 20, 0.04, 0.012},
	} {
		rng := rand.New(rand.NewPCG(2026, 11))
		draw := func(n int, mean, sd float64) Estimate {
			x := make([]float64, n)
			for i := range x {
				x[i] = mean + sd*rng.NormFloat64()
			}
			return Mean(x)
		}
		const runs, truth = 20000, -0.03
		covered := 0
		for range runs {
			if Difference(draw(c.na, -0.05, c.sa), draw(c.nb, -0.02, c.sb)).At(0.95).Contains(truth) {
				covered++
			}
		}
		share := float64(covered) / runs
		t.Logf("%s: %.2f %% of 95 %% intervals hold the truth", c.name, 100*share)
		if share < 0.94 || share > 0.972 {
			t.Errorf("%s: coverage %.4f", c.name, share)
		}
	}
}
