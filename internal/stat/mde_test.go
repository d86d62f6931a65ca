package stat

import (
	"math"
	"testing"
)

func TestMDE(t *testing.T) {
	near(t, "50 %", MDE(0.01, 0.5), 0.01, 1e-12)
	near(t, "80 %", MDE(1, 0.8), 1.43, 0.005)
	near(t, "90 %", MDE(1, 0.9), 1.65, 0.005)
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
	rng := seeded(1)
	x := make([]float64, 60)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	for b.Loop() {
		Trimmed(x, 0.1)
	}
}

func BenchmarkSlotVariance(b *testing.B) {
	n := newNoise(regimes()[1], seeded(1))
	counts := make([]float64, 6000)
	for i := range counts {
		counts[i] = 100 * math.Exp(n.second())
	}
	for b.Loop() {
		SlotVariance(counts, 0.01, 0.1, 1)
	}
}
