package run_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/layers"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/testing/testneed"
)

// keeper is an environment that may keep something of its arms.
type keeper struct {
	environment.Environment
	seen *keeperSeen
}

type keeperSeen struct{ opened, allowed, open, released, early atomic.Int32 }

func (k keeper) Open(ctx context.Context, spec environment.Spec) (environment.OpenArm, error) {
	k.seen.opened.Add(1)
	if spec.Keep {
		k.seen.allowed.Add(1)
	}
	arm, err := k.Environment.Open(ctx, spec)
	if err != nil {
		return nil, err
	}
	k.seen.open.Add(1)
	return keptArm{arm, k.seen}, nil
}

func (k keeper) Release(string) error {
	k.seen.released.Add(1)
	if k.seen.open.Load() > 0 {
		k.seen.early.Add(1)
	}
	return nil
}

type keptArm struct {
	environment.OpenArm
	seen *keeperSeen
}

func (a keptArm) Close() error {
	a.seen.open.Add(-1)
	return a.OpenArm.Close()
}

func (keptArm) Making() time.Duration { return time.Millisecond }

// A run allows environments to keep parts of their arms, and has them released after the last launch of a
// workload, when no arm is open, also after it was cancelled.
func TestKeptIsReleased(t *testing.T) {
	testneed.Root(t)
	for name, c := range map[string]struct{ budget, until time.Duration }{"ended": {8 * time.Second, time.Minute}, "cancelled": {time.Minute, 4 * time.Second}} {
		t.Run(name, func(t *testing.T) {
			ctx, stop := context.WithTimeout(t.Context(), c.until)
			defer stop()
			seen := &keeperSeen{}
			_, out, err := execute(ctx, t, spinExperiment(c.budget), catalog(plan.Rung{Environment: keeper{layers.Host, seen}}))
			if (err != nil) != (out.Reason == "interrupted") {
				t.Errorf("ended by %q: %v", out.Reason, err)
			}
			if n := seen.opened.Load(); n == 0 || seen.allowed.Load() != n || seen.released.Load() == 0 || seen.early.Load() > 0 {
				t.Errorf("%d arms, %d may keep something; released %d times, %d times before they were closed",
					n, seen.allowed.Load(), seen.released.Load(), seen.early.Load())
			}
		})
	}
}
