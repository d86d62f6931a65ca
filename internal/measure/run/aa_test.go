package run_test

import (
	"context"
	"os"
	"testing"
	"time"

	"gonum.org/v1/gonum/mathext"

	"github.com/tarelab/tare/internal/analysis"
	"github.com/tarelab/tare/internal/arms/layers"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/record"
)

// TestAA runs the baseline against itself 40 times with a short budget and prints how often a
// difference was claimed; with TARETEST_HOGS beside bursts of CPU work. It fails only if that is
// more often than 5 % of the time can explain.
func TestAA(t *testing.T) {
	testneed.Long(t, "aa")
	testneed.Root(t)
	if os.Getenv("TARETEST_HOGS") != "" {
		testneed.Bursts(t)
	}
	const runs = 40
	claimed, said := 0, 0
	for i := range runs {
		e := spinExperiment(4 * time.Second)
		e.Seed = uint64(100 + i)
		r, out, err := execute(context.Background(), t, e, catalog(plan.Rung{Environment: layers.Host}))
		if err != nil {
			t.Fatalf("run %d ended by %q: %v", i, out.Reason, err)
		}
		effects, err := analysis.Analyse(r)
		if err != nil {
			t.Fatal(err)
		}
		x := effects.Twin[0]
		if x.Own == nil || x.Verdict == record.Invalid {
			t.Logf("run %2d: no interval: %s", i, x.Reason)
			continue
		}
		said++
		different := x.Own.Low > 1 || x.Own.High < 1
		if different {
			claimed++
		}
		t.Logf("run %2d: twin %+.2f %% [%+.2f, %+.2f] %d blocks in %d generations, different: %v",
			i, 100*(x.Own.Ratio-1), 100*(x.Own.Low-1), 100*(x.Own.High-1), x.Blocks, x.Generations, different)
	}
	interval := falsePositives(claimed, said)
	t.Logf("A/A: %d of %d runs claimed a difference: %.1f %% [%.1f, %.1f] at a nominal 5 %%",
		claimed, said, 100*float64(claimed)/float64(said), 100*interval.Lo, 100*interval.Hi)
	if said < runs*3/4 {
		t.Errorf("only %d of %d runs gave an interval", said, runs)
	}
	if interval.Lo > 0.05 {
		t.Errorf("false positives of at least %.1f %% at a nominal 5 %%", 100*interval.Lo)
	}
}

// falsePositives returns the exact 99 % interval of the share of false positives (Clopper and
// Pearson 1934, Biometrika 26, p. 404). Forty runs are few, and the tier must not fail by chance.
func falsePositives(claimed, of int) stat.Interval {
	i := stat.Interval{Lo: 0, Hi: 1}
	if claimed > 0 {
		i.Lo = mathext.InvRegIncBeta(float64(claimed), float64(of-claimed+1), 0.005)
	}
	if claimed < of {
		i.Hi = mathext.InvRegIncBeta(float64(claimed+1), float64(of-claimed), 0.995)
	}
	return i
}
