package stat

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// done draws what arms got done in blocks of several launches, with stalls.
func done(t *rapid.T, arms int) Ratios {
	rng := seeded(rapid.Uint64().Draw(t, "seed"))
	r := Ratios{Control: []int{0, 1}}
	for g, n := range rapid.SliceOfN(rapid.IntRange(2, 12), 1, 5).Draw(t, "blocks") {
		for range n {
			over, under := make([]float64, arms), make([]float64, arms)
			for a := range over {
				under[a] = 0.1 * (1 + 0.2*rng.Float64())
				over[a] = 1000 * under[a] * math.Exp(0.2*rng.NormFloat64())
				if rng.Float64() < 0.05 {
					over[a] = 0
				}
			}
			r.Over, r.Under, r.Launch = append(r.Over, over), append(r.Under, under), append(r.Launch, g)
		}
	}
	return r
}

// direct is the log of the ratio of the sums of an arm without block skip.
func (r Ratios) direct(arm, skip int) float64 {
	over, under := 0.0, 0.0
	for b := range r.Over {
		if b != skip {
			over, under = over+r.Over[b][arm], under+r.Under[b][arm]
		}
	}
	return LogRatio(over, under)
}

// control is the mean of the logs of the ratios of those controls that did anything,
// NaN if none did.
func (r Ratios) control() float64 {
	sum, n := 0.0, 0.0
	for _, c := range r.Control {
		if log := r.direct(c, -1); !math.IsNaN(log) {
			sum, n = sum+log, n+1
		}
	}
	return sum / n
}

func TestRatiosOfSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := done(t, 4)
		f := FitWindows(r.Windows(), false)
		for a := 2; a < 4; a++ {
			near(t, "log ratio", f.Contrast(f.Against(a)).Mean, r.direct(a, -1)-r.control(), 1e-11)
		}
	})
}

// A stall is in the total and an arm that never did anything has none.
func TestRatiosOfNothing(t *testing.T) {
	nan := math.NaN()
	r := Ratios{
		Over:  [][]float64{{10, 8, 0}, {12, 0, 0}, {11, 9, nan}},
		Under: [][]float64{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}, Launch: []int{0, 0, 0}, Control: []int{0},
	}
	f := FitWindows(r.Windows(), false)
	near(t, "with a stall", f.Contrast(f.Against(1)).Mean, math.Log(17.0/33), 1e-12)
	if f.Contrast(f.Against(2)).Known() {
		t.Error("the ratio of an arm that did nothing is known")
	}
	idle := Ratios{
		Over:  [][]float64{{10, 0, 8}, {12, 0, 9}},
		Under: [][]float64{{1, 1, 1}, {1, 1, 1}}, Launch: []int{0, 0}, Control: []int{0, 1},
	}
	f = FitWindows(idle.Windows(), false)
	near(t, "beside a control that did nothing", f.Contrast(f.Against(2)).Mean, math.Log(17.0/22), 1e-12)
	if f := FitWindows(Ratios{Over: [][]float64{{1, 2}}, Under: [][]float64{{1}}, Launch: []int{0}, Control: []int{0}}.Windows(), false); f.Known {
		t.Error("ragged sums are known")
	}
}

// The error of a pooled quantile covers: 95 % intervals of the median of clusters
// of operations.
func TestTailsCover(t *testing.T) {
	rng, covered, all := seeded(7), 0, 0
	for range 300 {
		const blocks, each, q = 60, 40, 0.9
		arms := make([][][]float64, 2)
		for a := range arms {
			for range blocks {
				list, level := make([]float64, each), 0.3*rng.NormFloat64()
				for i := range list {
					list[i] = math.Exp(level + rng.NormFloat64())
				}
				arms[a] = append(arms[a], list)
			}
		}
		w := tails(arms, q)
		f := FitWindows(w, false)
		c := f.Against(1)
		e := f.Contrast(c) // one launch: the blocks' part alone
		all++
		if e.At(0.95).Contains(0) {
			covered++
		}
	}
	within(t, "a pooled 0.9 quantile: coverage", covered, all, 0.92, 0.98)
}

// tails counts operations below the pooled quantile, and takes its slope from
// quantiles a little beside it.
func tails(arms [][][]float64, q float64) Windows {
	t := Tails{Q: q, Log: make([]float64, len(arms)), Slope: make([]float64, len(arms)), Control: []int{0}}
	blocks := len(arms[0])
	t.Below, t.Count, t.Launch = rectangle(blocks, len(arms)), rectangle(blocks, len(arms)), make([]int, blocks)
	for a, lists := range arms {
		all := slices.Concat(lists...)
		slices.Sort(all)
		at := func(q float64) float64 { return math.Log(all[int(q*float64(len(all)))]) }
		t.Log[a], t.Slope[a] = at(q), (at(q+0.02)-at(q-0.02))/0.04
		for b, list := range lists {
			for _, x := range list {
				t.Count[b][a]++
				if math.Log(x) <= t.Log[a] {
					t.Below[b][a]++
				}
			}
		}
	}
	return t.Windows()
}
