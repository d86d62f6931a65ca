package analysis

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/record"
)

// draw simulates the effects of one run: arms with true log effects, a number of launches and
// their scatter, all against the same noisy control.
func draw(rng *rand.Rand, launches int, scatter float64, truth ...float64) *record.Effects {
	columns := make([][]float64, len(truth))
	for range launches {
		control := scatter * rng.NormFloat64()
		for i, x := range truth {
			columns[i] = append(columns[i], x+scatter*rng.NormFloat64()-control)
		}
	}
	e := &record.Effects{Workloads: []record.WorkloadResult{{Name: "db", Primary: "throughput"}}}
	for i, x := range columns { // each with its own interval: only the errors are compared
		est := stat.Mean(x)
		r := shown(est, est.At(0.97))
		e.Effects = append(e.Effects, record.Effect{Workload: "db", Metric: "throughput", Arm: string(rune('a' + i)), Baseline: "host",
			Typical: r, Total: r, Own: r, Generations: launches, Blocks: launches * 10})
	}
	return e
}

// The intervals of the changes of all arms together keep their coverage, and equal arms differ
// no more often than the level allows, in runs of different length and noise.
func TestChangesCover(t *testing.T) {
	for _, c := range []struct {
		name           string
		before, after  int
		noise, noisier float64
		arms           int
	}{
		{"one arm, 5 and 5 launches", 5, 5, 0.02, 0.02, 1},
		{"three arms, 5 and 6 launches", 5, 6, 0.02, 0.02, 3},
		{"eight arms, 6 and 6 launches", 6, 6, 0.02, 0.02, 8},
		{"three arms, quiet host and noisy host", 6, 10, 0.006, 0.04, 3},
	} {
		rng := rand.New(rand.NewPCG(7, 2026))
		old, now := make([]float64, c.arms), make([]float64, c.arms)
		for i := range old {
			old[i], now[i] = -0.05, -0.05
		}
		old[0], now[0] = -0.02, -0.05 // the first arm did change, by -3 %
		const runs = 3000
		missed, wrong := 0, 0
		for range runs {
			cs := Changes(draw(rng, c.before, c.noise, old...), draw(rng, c.after, c.noisier, now...), 0.01)
			if len(cs) != c.arms {
				t.Fatalf("%d changes of %d arms", len(cs), c.arms)
			}
			all, false1 := true, false
			for i, x := range cs {
				d := math.Exp(now[i] - old[i])
				all = all && (x.Change == nil || x.Change.Low <= d && d <= x.Change.High)
				false1 = false1 || i > 0 && x.Verdict.Differs()
			}
			if !all {
				missed++
			}
			if false1 {
				wrong++
			}
		}
		t.Logf("%s: an interval misses in %.1f %% of the comparisons, an equal arm is called different in %.1f %%",
			c.name, 100*float64(missed)/runs, 100*float64(wrong)/runs)
		if share := float64(missed) / runs; share > 0.06 || share < 0.001 {
			t.Errorf("%s: %.2f %% missed", c.name, 100*share)
		}
	}
}

// Effects in both results are compared; the others have a reason or are skipped.
func TestChanges(t *testing.T) {
	ratio := func(x, half, df float64) *record.Ratio {
		return &record.Ratio{Ratio: x, Low: x * (1 - half), High: x * (1 + half), SE: half / 3, DF: df}
	}
	effect := func(metric, arm string, r *record.Ratio) record.Effect {
		return record.Effect{Workload: "db", Metric: metric, Arm: arm, Baseline: "host", Typical: r, Total: r, Generations: 6, Exploratory: metric != "throughput"}
	}
	invalid := effect("throughput", "d", ratio(1, 0.01, 5))
	invalid.Verdict, invalid.Reason = record.Invalid, record.InProse("9 of 10 blocks had to be dropped")
	missing := effect("throughput", "e", nil)
	missing.Reason = record.Say("no_window")
	before := &record.Effects{Effects: []record.Effect{
		effect("throughput", "a", ratio(0.98, 0.003, 8)), effect("throughput", "b", ratio(0.98, 0.003, 8)), effect("throughput", "c", ratio(0.98, 0.003, 8)),
		invalid, effect("throughput", "e", ratio(0.98, 0.003, 8)), effect("throughput", "gone", ratio(1, 0.1, 5)), effect("p99", "a", ratio(1.1, 0.01, 8)),
	}}
	after := &record.Effects{Effects: []record.Effect{
		effect("throughput", "a", ratio(0.90, 0.003, 8)), effect("throughput", "b", ratio(0.9805, 0.002, 8)), effect("throughput", "c", ratio(0.97, 0.2, 8)),
		effect("throughput", "d", ratio(1, 0.01, 5)), missing, effect("throughput", "new", ratio(1, 0.1, 5)), effect("p99", "a", ratio(1.0, 0.01, 8)),
	}}
	got := Changes(before, after, 0.01)
	want := []struct {
		arm     string
		verdict record.Verdict
		reason  string
	}{
		{"a", record.Slower, ""}, {"b", record.NoDifference, ""}, {"c", record.Undecided, "too wide"},
		{"d", record.Invalid, "old result: 9 of 10"}, {"e", record.Undecided, "undecided in the new result: no window"}, {"a", record.Faster, ""},
	}
	if len(got) != len(want) {
		t.Fatalf("%d changes, want %d: %+v", len(got), len(want), got)
	}
	for i, w := range want {
		if x := got[i]; x.Arm != w.arm || x.Verdict != w.verdict || !strings.Contains(said.English(x.Reason), w.reason) {
			t.Errorf("%s %s: %v %q, want %v %q", x.Metric, x.Arm, x.Verdict, x.Reason, w.verdict, w.reason)
		}
	}
	if c := got[0].Change; math.Abs(c.Ratio-0.90/0.98) > 1e-12 || !(c.Low < c.Ratio && c.Ratio < c.High) {
		t.Errorf("the ratio of ratios is %+v", c)
	}
}
