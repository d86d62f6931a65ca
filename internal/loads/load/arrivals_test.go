package load

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// next takes n arrivals at a time before the first.
func schedule(seed uint64, began int64, rate float64, n int) []int64 {
	a := newArrivals(rate, 1)
	out := make([]int64, n)
	for i := range out {
		out[i], _ = a.take(began, 1, seed)
		out[i] -= began
	}
	return out
}

func TestTheSameSeedGivesTheSameArrivals(t *testing.T) {
	a, b := schedule(7, 0, 1000, 1000), schedule(7, 0, 1000, 1000)
	if !slices.Equal(a, b) {
		t.Error("two schedules of the same seed differ")
	}
	if slices.Equal(a, schedule(8, 0, 1000, 1000)) {
		t.Error("two seeds give the same schedule")
	}
	// Another arm of the block has the same gaps from another time on.
	for i, at := range schedule(7, 1e15, 1000, 1000) {
		if d := at - a[i]; d < -1000 || d > 1000 {
			t.Fatalf("arrival %d is at %d instead of %d ns", i, at, a[i])
		}
	}
}

// The gaps are exponential: by the test of Kolmogorov and Smirnov against
// 1-exp(-x), at a level (0.001) that the fixed seeds pass.
func TestGapsAreExponential(t *testing.T) {
	const n, rate = 20000, 5000.0
	for seed := range uint64(5) {
		at := schedule(seed, 0, rate, n)
		gaps, last := make([]float64, n), int64(0)
		for i, x := range at {
			gaps[i], last = float64(x-last)*1e-9*rate, x
		}
		slices.Sort(gaps)
		worst := 0.0
		for i, g := range gaps {
			p := -math.Expm1(-g)
			worst = max(worst, math.Abs(p-float64(i)/n), math.Abs(p-float64(i+1)/n))
		}
		if limit := 1.95 / math.Sqrt(n); worst > limit {
			t.Errorf("seed %d: distance %g from the exponential, limit %g", seed, worst, limit)
		}
	}
}

// The backlog is the arrivals that are due and not taken; a thaw clears it.
func TestWaitingIsWhatIsDue(t *testing.T) {
	const all = 2000
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		steps := rapid.SliceOfN(rapid.Int64Range(0, 20e6), 1, 100).Draw(rt, "time between takes, ns")
		var at []int64
		a, now, taken, thaw := newArrivals(1000, 1), int64(0), 0, int64(0)
		begin := func() {
			at, taken, thaw = schedule(seed, now, 1000, all), 0, thaw+1
			for i := range at {
				at[i] += now
			}
		}
		begin()
		for i, step := range steps {
			if i == len(steps)/2 {
				begin()
			}
			got, waiting := a.take(now, thaw, seed)
			if got != at[taken] {
				rt.Fatalf("arrival %d is at %d, want %d", taken, got, at[taken])
			}
			taken++
			want := uint64(0)
			for _, x := range at[taken:] {
				if x <= now {
					want++
				}
			}
			if waiting != want {
				rt.Fatalf("%d arrivals wait, want %d", waiting, want)
			}
			now += step
		}
	})
}

func BenchmarkTake(b *testing.B) {
	a, now := newArrivals(1e6, 1), int64(0)
	b.ReportAllocs()
	for b.Loop() {
		now, _ = a.take(now, 1, 1)
	}
}

// The arrivals of a batch come at the same time, and the rate stays.
func TestBatches(t *testing.T) {
	const rate, batch, n = 1000, 8, 8 * 5000
	a := newArrivals(rate, batch)
	var all []int64
	for range n {
		at, _ := a.take(0, 0, 3)
		all = append(all, at)
	}
	for i := range all {
		if i%batch != 0 && all[i] != all[i-1] || i > 0 && i%batch == 0 && all[i] == all[i-1] {
			t.Fatalf("arrival %d at %d, the one before at %d", i, all[i], all[i-1])
		}
	}
	if got := n / (float64(all[n-1]) * 1e-9); got < 0.95*rate || got > 1.05*rate {
		t.Errorf("%.0f arrivals per second, want %d", got, rate)
	}
}
