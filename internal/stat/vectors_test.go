package stat

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"
)

// vectors are the reference values of testdata/vectors.py (SciPy, statsmodels).
type vectors struct {
	Student []struct{ P, DF, T float64 }
	Trimmed []struct {
		X                             []float64
		Frac, Mean, SE, DF, P, Lo, Hi float64
	}
	Jackknife []struct {
		A, B         []float64
		Mean, SE, DF float64
	}
	BH             []struct{ P, Adjusted []float64 }
	ClopperPearson []struct {
		Hits, N       int
		Level, Lo, Hi float64
	} `json:"clopper_pearson"`
	Runs []struct {
		X    []float64
		Z, P float64
	}
	Lag1 []struct {
		X []float64
		R float64
	}
	Grubbs []struct {
		X     []float64
		Index int
		P     float64
	}
	Welch []struct {
		A, B                []float64
		Mean, DF, P, Lo, Hi float64
	}
	Trend []struct {
		X          []float64
		Change, SE float64
	}
	BetaInc      []struct{ A, B, X, Value float64 }  `json:"beta_inc"`
	StudentShape []struct{ T, DF, CDF, PDF float64 } `json:"student_shape"`
	Fisher       []struct{ F, DF1, DF2, Tail float64 }
	Normal       []struct{ Z, CDF float64 }
}

func readVectors(t *testing.T) (v vectors) {
	t.Helper()
	data, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestStudentVectors(t *testing.T) {
	for _, c := range readVectors(t).Student {
		near(t, fmt.Sprintf("quantile %v df %v", c.P, c.DF), StudentQuantile(c.P, c.DF), c.T, 1e-9)
		near(t, fmt.Sprintf("CDF %v df %v", c.T, c.DF), studentCDF(c.T, c.DF), c.P, 1e-9)
	}
}

func TestTrimmedVectors(t *testing.T) {
	for _, c := range readVectors(t).Trimmed {
		e := Trimmed(c.X, c.Frac)
		what := fmt.Sprintf("n %d frac %v ", len(c.X), c.Frac)
		near(t, what+"mean", e.Mean, c.Mean, 1e-10)
		near(t, what+"SE", e.SE, c.SE, 1e-10)
		near(t, what+"df", e.DF, c.DF, 0)
		near(t, what+"p", e.PValue(), c.P, 1e-9)
		near(t, what+"lo", e.At(0.95).Lo, c.Lo, 1e-9)
		near(t, what+"hi", e.At(0.95).Hi, c.Hi, 1e-9)
	}
}

// Sums of ratios have the estimate of the jackknife and, over many blocks, its
// error: column 0 is a constant.
func TestRatioVectors(t *testing.T) {
	for _, c := range readVectors(t).Jackknife {
		r := Ratios{Control: []int{0}, Launch: make([]int, len(c.A))}
		for i := range c.A {
			r.Over, r.Under = append(r.Over, []float64{1, c.A[i]}), append(r.Under, []float64{1, c.B[i]})
		}
		f := FitWindows(r.Windows(), false)
		near(t, "mean", f.Contrast(f.Against(1)).Mean, c.Mean, 1e-10)
		if len(c.A) >= 40 {
			variance, _ := f.ofWindows(f.Against(1))
			near(t, "SE over the jackknife's", math.Sqrt(variance)/c.SE, 1, 0.03)
		}
	}
}

func TestBenjaminiHochbergVectors(t *testing.T) {
	for _, c := range readVectors(t).BH {
		for i, p := range BenjaminiHochberg(c.P) {
			near(t, "adjusted", p, c.Adjusted[i], 1e-11)
		}
	}
}

func TestClopperPearsonVectors(t *testing.T) {
	for _, c := range readVectors(t).ClopperPearson {
		i := clopperPearson(c.Hits, c.N, c.Level)
		near(t, "lo", i.Lo, c.Lo, 1e-9)
		near(t, "hi", i.Hi, c.Hi, 1e-9)
	}
}

func TestSerialVectors(t *testing.T) {
	v := readVectors(t)
	for _, c := range v.Runs {
		z := runsAbout(c.X, Median(c.X))
		near(t, "z", z, c.Z, 1e-9)
		near(t, "p", twoSided(z), c.P, 1e-9)
	}
	for _, c := range v.Lag1 {
		near(t, "r", Lag1Within([][]float64{c.X, c.X}).Stat, c.R, 1e-10)
	}
}
