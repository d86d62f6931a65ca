package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// drawn is a table of windows: blocks of each launch, normal noise, drift.
func drawn(rng *rand.Rand, arms int, blocks []int, launchSD, noise, missing float64) Windows {
	w := Windows{Control: []int{0, 1}}
	if arms < 3 {
		w.Control = []int{0}
	}
	for g, n := range blocks {
		launch := make([]float64, arms)
		for a := range launch {
			launch[a] = launchSD * rng.NormFloat64()
		}
		for range n {
			row, block := make([]float64, arms), 0.2*rng.NormFloat64()
			for a := range row {
				if row[a] = block + launch[a] + noise*rng.NormFloat64(); rng.Float64() < missing {
					row[a] = math.NaN()
				}
			}
			w.Y, w.Launch = append(w.Y, row), append(w.Launch, g)
		}
	}
	return w
}

// In a complete table estimates are means of differences, and what launches add
// is as in a table of launch means.
func TestFitOfACompleteTable(t *testing.T) {
	w := drawn(seeded(1), 5, []int{6, 6, 6, 6}, 0.01, 0.02, 0)
	f := FitWindows(w, false)
	for a := 2; a < 5; a++ {
		want := 0.0
		for _, row := range w.Y {
			want += (row[a] - (row[0]+row[1])/2) / float64(len(w.Y))
		}
		near(t, "mean", f.Contrast(f.Against(a)).Mean, want, 1e-13)
		c := f.Against(a)
		_, df := f.ofWindows(c)
		near(t, "degrees of freedom of windows", df, 4*5, 1e-9)
		near(t, "degrees of freedom of launches", f.between.df, 4*3, 1e-9)
	}
}

// BenchmarkFit60x9 is what labels drawn anew cost: a fit and p-values.
func BenchmarkFit60x9(b *testing.B) {
	w := drawn(seeded(2), 9, []int{20, 20, 20}, 0.01, 0.05, 0.02)
	for b.Loop() {
		f := FitWindows(w, true)
		for a := 2; a < 9; a++ {
			f.PValue(f.Against(a))
		}
	}
}

func BenchmarkFamily60x9(b *testing.B) {
	f := FitWindows(drawn(seeded(2), 9, []int{20, 20, 20}, 0.01, 0.05, 0.02), true)
	var cs [][]float64
	for a := 2; a < 9; a++ {
		cs = append(cs, f.Against(a))
	}
	for b.Loop() {
		f.Family(cs, 0.95)
	}
}

func BenchmarkFit100000(b *testing.B) {
	w := drawn(seeded(3), 11, []int{910, 910, 910, 910, 910, 910, 910, 910, 910, 900}, 0.01, 0.05, 0.02)
	for b.Loop() {
		f := FitWindows(w, true)
		f.Interval(f.Against(2), 0.95)
	}
}

// The largest tables, and the fewest arms, are fitted.
func TestTablesOfAnySize(t *testing.T) {
	forty := make([]int, 40)
	for i := range forty {
		forty[i] = 3
	}
	for _, c := range []struct {
		arms   int
		blocks []int
	}{{12, forty}, {2, []int{400}}, {12, []int{400}}, {2, forty}, {3, []int{1, 400}}} {
		f := FitWindows(drawn(seeded(10), c.arms, c.blocks, 0.01, 0.05, 0.1), true)
		last := f.Against(c.arms - 1)
		if i := f.Interval(last, 0.95); !f.Known || f.Launches != len(c.blocks) || !(i.Half() < 0.3) {
			t.Errorf("%d arms, %d launches: %v, %s", c.arms, len(c.blocks), i, f.Why)
		}
	}
}

func TestLevelIsPaidOnlyForWhatWasDone(t *testing.T) {
	near(t, "budget, first look", Level(false, false, 1), 0.95, 1e-15)
	near(t, "stopped on width", Level(true, false, 1), 0.97, 1e-15)
	for looks := 1; looks < 20; looks++ {
		if Level(true, false, looks) <= Level(false, false, looks) || Level(false, false, looks+1) < Level(false, false, looks) || Level(true, false, looks) >= 1 {
			t.Errorf("%d looks: %v and %v", looks, Level(false, false, looks), Level(true, false, looks))
		}
	}
}

// A forecast is 1 for what is reached, and longer for what is narrower; after that
// time the windows' part is as narrow as foretold.
func TestForecastOfWidths(t *testing.T) {
	f := FitWindows(drawn(seeded(11), 4, []int{10, 10, 10, 10}, 0.004, 0.05, 0), true)
	c := f.Against(2)
	now := f.Interval(c, 0.95).Half()
	near(t, "reached", f.Forecast(c, 0.95, now*1.001), 1, 0)
	last := 1.0
	for _, part := range []float64{0.9, 0.7, 0.5, 0.2, 0.05} {
		factor := f.Forecast(c, 0.95, now*part)
		if !(factor > last) || factor < 0.3/part/part || factor > 1.7/part/part {
			t.Errorf("to %v of the width: %v times the time, %v before", part, factor, last)
		}
		if two := f.Forecast(c, 0.975, now*part); !(two > factor) {
			t.Errorf("at 97.5 %%: %v, at 95 %% %v", two, factor)
		}
		last = factor
	}
	if x := f.Forecast(c, 0.95, 1e-9); !math.IsInf(x, 1) {
		t.Errorf("to a billionth: %v", x)
	}
	if x := f.Forecast(f.Against(9), 0.95, 0.01); !math.IsNaN(x) {
		t.Errorf("of no arm: %v", x)
	}
}

// A range holds the forecast, and is wider where launches differ and are few.
func TestForecastRangeHoldsTheForecast(t *testing.T) {
	widest := 0.0
	for _, blocks := range [][]int{{10, 10, 10, 10, 10, 10, 10, 10}, {20, 20}} {
		f := FitWindows(drawn(seeded(12), 4, blocks, 0.02, 0.02, 0), true)
		c := f.Against(2)
		half := f.Interval(c, 0.95).Half() / 2
		low, high := f.ForecastRange(c, 0.95, half)
		if x := f.Forecast(c, 0.95, half); !(low >= 1 && low < x && x < high) {
			t.Errorf("%d launches: %v is not between %v and %v", len(blocks), x, low, high)
		}
		if high/low < widest {
			t.Errorf("%d launches: %v to %v, more launches %v times", len(blocks), low, high, widest)
		}
		widest = high / low
	}
	if low, high := (&Fit{}).ForecastRange([]float64{1, -1}, 0.95, 0.1); !math.IsNaN(low) || !math.IsNaN(high) {
		t.Errorf("nothing known: %v to %v", low, high)
	}
}
