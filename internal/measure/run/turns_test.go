package run

import (
	"math"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/planning/plan"
)

// A workload whose windows or launches vary more gets more of the second pass, within bounds. If the first pass says too little,
// or the experiment fixes the shares, the plan's shares hold.
func TestTimeGoesToTheNoisy(t *testing.T) {
	varied := func(noise, launchSD, budget float64, arms int) *loadRun {
		load := &plan.Load{Arms: make([]plan.PlannedArm, arms), Subject: "container"}
		load.Budget = budget
		l := &loadRun{load: load, schedule: schedule{spent: 10 * time.Second, passes: 2, launch: 6, launchSD: launchSD}}
		l.results.effects = []Running{{Arm: "cgroup"}, {Arm: "container", Noise: noise}}
		return l
	}
	made := func(noise, budget float64, arms int) *loadRun { return varied(noise, 1e-9, budget, arms) }
	for name, c := range map[string]struct {
		loads []*loadRun
		want  []float64
	}{
		"noisy, quiet and between": {[]*loadRun{made(0.2, 30, 6), made(0.02, 30, 6), made(math.Sqrt(0.004), 40, 8)}, []float64{4, 0.25, 1}},
		"launches that differ":     {[]*loadRun{varied(1e-9, 0.02, 30, 6), varied(1e-9, 0.01, 30, 6)}, []float64{2, 0.5}},
		"not known":                {[]*loadRun{made(0.2, 30, 6), made(0, 30, 6)}, []float64{1, 1}},
		"shares are chosen":        {[]*loadRun{made(0.2, 60, 6), made(0.02, 30, 6)}, []float64{1, 1}},
	} {
		for i, got := range weigh(c.loads) {
			if math.Abs(got-c.want[i]) > 1e-9 {
				t.Errorf("%s: workload %d has the weight %g, want %g", name, i, got, c.want[i])
			}
		}
	}
	none := made(0.2, 30, 6)
	none.schedule.passes = 1
	if got := weigh([]*loadRun{none}); got[0] != 1 {
		t.Errorf("without a first pass: %v", got)
	}
}

// A quiet workload keeps the time of the launches that a verdict needs, where the noisy ones have more than theirs.
func TestTimeOfLeastLaunches(t *testing.T) {
	made := func(noise float64, share time.Duration) *loadRun {
		load := &plan.Load{Arms: make([]plan.PlannedArm, 6), Subject: "container"}
		load.Budget = 30
		l := &loadRun{load: load, schedule: schedule{plan: &plan.Plan{}, load: load, share: share + 10*time.Second, spent: 10 * time.Second, piloted: true, passes: 2, launch: 2,
			question: []string{"host", "twin", "container"}, lengths: plan.Lengths{Window: 20 * ms, Discard: 5 * ms}}}
		l.schedule.observed = plan.Observed{Arms: 6, Launch: time.Second}
		l.results.effects = []Running{{Arm: "container", Noise: noise}}
		return l
	}
	for _, c := range []struct {
		share  time.Duration
		enough bool
	}{{20 * time.Second, true}, {10 * time.Second, false}} {
		loads := []*loadRun{made(0.3, c.share), made(0.02, c.share)}
		sum := beginSecondPass(loads)
		quiet, least := loads[1].schedule.share, loads[1].schedule.leastShare()
		if least < 8*time.Second || least > 15*time.Second { // four launches of 1.9 s, with their warming, and of half as much measuring
			t.Fatalf("a verdict needs %v", least)
		}
		if got := loads[0].schedule.share + quiet; got != sum || (quiet >= least) != c.enough {
			t.Errorf("of %v the quiet load has %v, and needs %v", sum, quiet, least)
		}
	}
}
