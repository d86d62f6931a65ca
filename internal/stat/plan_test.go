package stat

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestMDE(t *testing.T) {
	near(t, "50 %", MDE(0.01, 0.5), 0.01, 1e-12)
	near(t, "80 %", MDE(1, 0.8), 1.43, 0.005)
	near(t, "90 %", MDE(1, 0.9), 1.65, 0.005)
}

func TestNeeded(t *testing.T) {
	e := Estimate{Mean: 0, SE: 0.0125 / math.Sqrt(5), DF: 4, N: 5}
	n := Needed(e, 0.95, 0.01)
	if n != 9 {
		t.Errorf("from +-1.55 %% at 5 to +-1 %%: %d, want 9 (t falls with df)", n)
	}
	if got := Needed(e, 0.95, 0.02); got != 5 {
		t.Errorf("enough already: %d", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		e := Trimmed(sample(t, 3), 0.1)
		half := rapid.Float64Range(0.01, 10).Draw(t, "half")
		n := Needed(e, 0.95, half)
		if !e.Known() {
			return
		}
		if scaled(e, n).At(0.95).Half() > half {
			t.Errorf("%d are not enough", n)
		}
		if n > e.N && scaled(e, n-1).At(0.95).Half() <= half {
			t.Errorf("%d are more than needed", n)
		}
	})
}

func TestWidthLooks(t *testing.T) {
	w := Rows(0.01)
	for n, want := range map[int]bool{0: false, 22: false, 23: false, 24: true, 25: false, 26: true, 240: true} {
		if w.Looks(n) != want {
			t.Errorf("Looks(%d) = %v", n, !want)
		}
	}
	e := Estimate{Mean: 0.3, SE: 0.012, DF: 30, N: 24}
	if !w.Done(e) {
		t.Error("a tenth of a large effect is enough")
	}
	e.Mean = 0.01
	if w.Done(e) {
		t.Error("+-2.6 % is not +-1 %")
	}
	e.SE, e.N = 0.001, 25
	if w.Done(e) {
		t.Error("25 is between two looks")
	}
}

func TestLogRatio(t *testing.T) {
	near(t, "ratio", LogRatio(98, 100), math.Log(0.98), 1e-12)
	for _, bad := range []float64{LogRatio(0, 1), LogRatio(1, 0), LogRatio(-1, -1), LogRatio(math.Inf(1), 1), LogRatio(math.NaN(), 1)} {
		near(t, "no ratio", bad, math.NaN(), 0)
	}
}

func TestShare(t *testing.T) {
	x := []float64{-0.2, -0.05, 0, 0.05, 0.01}
	near(t, "slow", Share(x, -0.05), 0.4, 1e-12)
	near(t, "fast", Share(x, 0.05), 0.2, 1e-12)
	near(t, "none", Share(nil, -1), math.NaN(), 0)
}

func BenchmarkTrimmed(b *testing.B) {
	x := family(seeded(1), 60, []float64{1, 1})[0]
	for b.Loop() {
		Trimmed(x, 0.1)
	}
}

func BenchmarkWidthDone(b *testing.B) {
	w, e := Rows(0.01), Estimate{Mean: 0, SE: 0.01, DF: 49, N: 60}
	for b.Loop() {
		w.Done(e)
	}
}

func BenchmarkFamily(b *testing.B) {
	d := family(seeded(1), 8, []float64{1, 1, 1, 1, 1, 1, 1, 1, 1})
	for b.Loop() {
		Family(d)
	}
}

func BenchmarkSlotCosts(b *testing.B) {
	n := newNoise(regimes()[1], seeded(1))
	counts := make([]float64, 6000)
	for i := range counts {
		counts[i] = 100 * math.Exp(n.second())
	}
	for b.Loop() {
		SlotCosts(counts, 0.01, 0.1, []float64{0.1, 0.3, 1, 3})
	}
}
