package stat

import (
	"fmt"
	"math"
	"testing"
)

// StepHalf foretells the interval of a step that FitWindows has after such launches and blocks.
func TestStepHalf(t *testing.T) {
	var cells []table
	for _, launches := range []int{4, 6, 12} {
		for _, noise := range []float64{0.02, 0.1} {
			for _, sd := range []float64{0.002, 0.02} {
				cells = append(cells, table{launches: launches, blocks: 8, arms: 7, launchSD: sd, noise: noise})
			}
		}
	}
	for i, line := range inParallel(cells, func(i int, c table) string {
		var halves []float64
		rng := seeded(uint64(8800 + i))
		for range runsOf(t, 60) {
			f := FitWindows(c.run(rng), true)
			halves = append(halves, f.Interval(f.Between(3, 2), 0.95).Half())
		}
		got, want := Median(halves), StepHalf(math.Sqrt2*c.noise, c.launchSD, c.launches, c.blocks, c.arms)
		if r := got / want; r < 0.85 || r > 1.3 {
			return fmt.Sprintf("%+v: %.4f, foretold are %.4f", c, got, want)
		}
		return ""
	}) {
		if line != "" {
			t.Errorf("%d: %s", i, line)
		}
	}
	if !math.IsInf(StepHalf(0.1, 0.01, 1, 8, 7), 1) || !math.IsInf(StepHalf(0.1, 0.01, 4, 0, 7), 1) {
		t.Error("a step has an interval after one launch, or without a block of all arms")
	}
}
