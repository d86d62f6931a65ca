package run_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/layers"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/measure/run"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/record"
)

// failing is an environment whose first Opens fail.
type failing struct {
	environment.Environment
	times  int32
	reason error
	opened *atomic.Int32
}

func (f failing) Open(ctx context.Context, s environment.Spec) (environment.OpenArm, error) {
	if f.opened.Add(1) <= f.times {
		return nil, f.reason
	}
	return f.Environment.Open(ctx, s)
}

// An arm that fails in the first launch is tried again in that launch, and read back like the
// others. An arm that fails three times, or with an error that another try would meet again, is
// given up.
func TestFirstLaunchTriesAgain(t *testing.T) {
	testneed.Root(t)
	busy, never := errors.New("too busy"), fmt.Errorf("%w: no such thing", facts.ErrUnsupported)
	for name, c := range map[string]struct {
		failing
		opens    int32
		measured bool
	}{
		"once":        {failing{times: 1, reason: busy}, 2, true},
		"twice":       {failing{times: 2, reason: busy}, 3, true},
		"always":      {failing{times: 1000, reason: busy}, 3, false},
		"unsupported": {failing{times: 1000, reason: never}, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			c.failing.Environment, c.failing.opened = layers.Cgroup, new(atomic.Int32)
			e := spinExperiment(20 * time.Minute) // a part of it is for other tries
			e.Window, e.Generations = 20*time.Millisecond, 1
			rungs := catalog(plan.Rung{Environment: layers.Host}, plan.Rung{Environment: c.failing, On: "host"},
				plan.Rung{Environment: layers.Namespaces, On: "cgroup"}) // which is up in any case: else there is nothing to compare
			r := firstBlocks(t, e, rungs)
			if n := c.failing.opened.Load(); n != c.opens {
				t.Errorf("opened %d times, want %d", n, c.opens)
			}
			windows, left, warned := 0, 0, false
			for _, l := range r.Lines {
				switch {
				case l.Generation != nil:
					left += len(l.Generation.Left)
				case l.Warning != nil:
					warned = warned || l.Warning.Arm == "cgroup" && strings.Contains(said.English(l.Warning.Text), c.reason.Error())
				case l.Block != nil:
					windows += windowsOfArm(l.Block, "cgroup")
				}
			}
			settings := len(r.Manifest.Settings["spin/cgroup"])
			if c.measured != (windows > 0) || c.measured != (settings > 0) || c.measured != warned || c.measured != (left == 0) {
				t.Errorf("%d windows, %d settings read back, warned: %v, %d left out of the launch", windows, settings, warned, left)
			}
			if l := r.Manifest.Left; c.measured && len(l) > 0 || !c.measured && (len(l) != 1 || !strings.Contains(said.English(l[0].Reason), c.reason.Error())) {
				t.Errorf("left out: %+v", l)
			}
		})
	}
}

// firstBlocks executes the first launch of an experiment, and some of its blocks.
func firstBlocks(t *testing.T, e *experiment.Experiment, c plan.Catalog) *record.Result {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	r, out, err := executeShowing(ctx, t, e, c, func(e run.Event) {
		if e.Block >= 3 {
			stop()
		}
	})
	if !errors.Is(err, run.ErrInterrupted) {
		t.Fatalf("ended by %q: %v", out.Reason, err)
	}
	return r
}

func windowsOfArm(b *record.Block, arm string) (n int) {
	for _, w := range b.Windows {
		if w.Arm == arm {
			n++
		}
	}
	return n
}

// The volume of a failed try is still open when the next try opens its own.
func TestAnotherTryHasAVolume(t *testing.T) {
	testneed.Root(t)
	e, c := volumes(experiment.ArmSpec{Name: "disk", Options: record.Options{Volume: "loop:ext4"}}, experiment.ArmSpec{Name: "again", Options: record.Options{Volume: "loop:ext4"}})
	e.Named[1].Environment, e.Budget = "cgroup", 20*time.Minute
	c.Rungs = append(c.Rungs, plan.Rung{Environment: failing{Environment: layers.Cgroup, times: 1, reason: errors.New("too busy"), opened: new(atomic.Int32)}, On: "host"})
	if r := firstBlocks(t, e, c); len(r.Manifest.Left) > 0 {
		t.Errorf("left out: %+v", r.Manifest.Left)
	}
	nothingLeft(t)
}
