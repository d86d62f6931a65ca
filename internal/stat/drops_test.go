package stat

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestLeeBoundsByHand(t *testing.T) {
	b := leeBounds([]float64{4, 1, 3, 2}, 0.25)
	near(t, "low", b.Lo, 2-2.5, 1e-15)
	near(t, "high", b.Hi, 3-2.5, 1e-15)
	b = leeBounds([]float64{1, 2}, 0.25) // 1.5 values are left
	near(t, "part, low", b.Lo, (1+0.5*2)/1.5-1.5, 1e-15)
	near(t, "part, high", b.Hi, (2+0.5*1)/1.5-1.5, 1e-15)
	if b := leeBounds([]float64{1, 2}, 0); b != (Interval{}) {
		t.Errorf("%v without excess", b)
	}
	if b := leeBounds([]float64{1, 2}, 1); !math.IsInf(b.Half(), 1) {
		t.Errorf("%v when all may be gone", b)
	}
}

// The bounds hold the mean of any subset of the size that is left.
func TestLeeBoundsHoldEverySelection(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float64Range(-5, 5), 2, 30).Draw(t, "x")
		left := rapid.IntRange(1, len(x)).Draw(t, "left")
		order := rapid.Permutation(x).Draw(t, "order")
		b := leeBounds(x, 1-float64(left)/float64(len(x)))
		if shift := average(order[:left]) - average(x); shift < b.Lo-1e-9 || shift > b.Hi+1e-9 {
			t.Errorf("%v outside %v", shift, b)
		}
	})
}

// Windows of one arm are dropped for what they show; the widened interval still
// covers, the plain one does not.
func TestBoundCoversSelectiveDrops(t *testing.T) {
	rng := seeded(8)
	plain, widened, n := 0, 0, 2000
	for range n {
		w := drawn(rng, 3, []int{25, 25, 25}, 0, 0.05, 0)
		kept, all := 0.0, 0.0
		for _, row := range w.Y {
			all++
			if rng.Float64() < 0.6 && row[2] < (row[0]+row[1])/2-0.02 { // slow windows die
				row[2] = math.NaN()
			} else {
				kept++
			}
		}
		f := FitWindows(w, true)
		c := f.Against(2)
		i, b := f.Interval(c, 0.95), f.Bound(2, []float64{1, 1, kept / all})
		if i.Contains(0) {
			plain++
		}
		if (Interval{i.Lo + b.Lo, i.Hi + b.Hi}).Contains(0) {
			widened++
		}
	}
	within(t, "dropped when slow: coverage without a bound", plain, n, 0, 0.7)
	// The bound is that of a mean, to which the robust estimate is close.
	within(t, "dropped when slow: coverage of the bound", widened, n, 0.935, 1)
}

func TestDropRates(t *testing.T) {
	rng := seeded(9)
	table := func(rates []float64) [][]Drop {
		rows := make([][]Drop, 60)
		for b := range rows {
			for _, r := range rates {
				d := Kept
				if rng.Float64() < r {
					d = Dropped
				}
				rows[b] = append(rows[b], d)
			}
		}
		return rows
	}
	found, n := 0, 600
	for range n {
		if DropRates(table([]float64{0.05, 0.05, 0.05, 0.05}), 199, rng).P <= 0.05 {
			found++
		}
	}
	within(t, "equal drop rates: found to differ", found, n, 0.02, 0.065)
	found = 0
	for range 100 {
		if DropRates(table([]float64{0.02, 0.02, 0.02, 0.2}), 199, rng).P <= 0.05 {
			found++
		}
	}
	within(t, "one arm loses ten times as many: found", found, 100, 0.85, 1)
	for name, rows := range map[string][][]Drop{"none": nil, "nothing dropped": {{Kept, Kept}}, "no arms": {{}}} {
		if got := DropRates(rows, 99, rng); !math.IsNaN(got.P) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
