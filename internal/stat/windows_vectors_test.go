package stat

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"
)

// TestWindowsVectors compares with testdata/windows.py, which solves the same
// equations by dense linear algebra and SciPy.
func TestWindowsVectors(t *testing.T) {
	data, err := os.ReadFile("testdata/windows.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Y               [][]*float64
		Launch, Control []int
		Robust          bool
		LaunchSD        float64 `json:"launch_sd"`
		Contrasts       []struct {
			C                             []float64
			Mean, SE, DF, P, Half, Family float64
		}
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		w := Windows{Launch: c.Launch, Control: c.Control}
		for _, row := range c.Y {
			w.Y = append(w.Y, orNaN(row))
		}
		f := FitWindows(w, c.Robust)
		what := fmt.Sprintf("case %d ", i)
		near(t, what+"launch SD", math.Sqrt(f.between.variance), c.LaunchSD, 1e-8)
		var cs [][]float64
		for _, x := range c.Contrasts {
			cs = append(cs, x.C)
		}
		family := f.Family(cs, 0.95)
		for k, x := range c.Contrasts {
			e := f.Contrast(x.C)
			near(t, what+"mean", e.Mean, x.Mean, 1e-10)
			near(t, what+"SE", e.SE, x.SE, 1e-9)
			near(t, what+"df", e.DF, x.DF, 1e-9)
			near(t, what+"p", f.PValue(x.C), x.P, 1e-6)
			near(t, what+"half", f.Interval(x.C, 0.95).Half(), x.Half, 1e-6)
			near(t, what+"half in the family", family[k].Half(), x.Family, 1e-6)
		}
	}
}

func orNaN(row []*float64) []float64 {
	out := make([]float64, len(row))
	for i, x := range row {
		if out[i] = math.NaN(); x != nil {
			out[i] = *x
		}
	}
	return out
}
