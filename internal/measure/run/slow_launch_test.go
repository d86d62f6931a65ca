package run_test

import (
	"context"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/layers"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/testing/testneed"
)

// slow is an environment whose Open takes long, as that of a server with much data does.
type slow struct {
	environment.Environment
	takes time.Duration
}

func (s slow) Open(ctx context.Context, spec environment.Spec) (environment.OpenArm, error) {
	time.Sleep(s.takes)
	return s.Environment.Open(ctx, spec)
}

// If another launch would have no time left to measure, the run uses its budget in the present
// launch, and ends when less than a block's time is left.
func TestSlowLaunchesUseTheBudget(t *testing.T) {
	testneed.Root(t)
	const budget, takes = 14 * time.Second, 5 * time.Second // a launch of 5 s and a pilot; 8 s are left, 7.5 s are too few
	e := spinExperiment(budget)
	e.Window, e.Discard = 100*time.Millisecond, 10*time.Millisecond
	r, out, err := execute(context.Background(), t, e,
		catalog(plan.Rung{Environment: slow{layers.Host, takes}}, plan.Rung{Environment: layers.Cgroup, On: "host"}))
	if err != nil || out.Reason != "budget" {
		t.Fatalf("ended by %q: %v", out.Reason, err)
	}
	launches, planned, last := 0, 0, map[int]int{}
	began, ended := r.Lines[0].Time, time.Time{}
	for _, l := range r.Lines {
		switch {
		case l.Generation != nil:
			launches++
		case l.Pilot != nil:
			planned = l.Pilot.Blocks
		case l.Block != nil:
			last[l.Block.Generation] = l.Block.Number + 1
			ended = l.Time
		}
	}
	t.Logf("%d launches, %d blocks planned, %v measured", launches, planned, last)
	// A block takes less than a second, unless the host is stopped for a while.
	if used := ended.Sub(began); used < budget-time.Second {
		t.Errorf("the last block ended after %v of %v", used, budget)
	}
}
