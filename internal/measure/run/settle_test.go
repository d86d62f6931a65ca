package run_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/arms/inspect"
	"github.com/tarelab/tare/internal/arms/layers"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/host/probe"
	"github.com/tarelab/tare/internal/measure/run"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/record"
)

// With a CPU quota, windows open two of its periods after a thaw. A shorter settle time in the
// experiment is kept, with a warning.
func TestSettleTimeOfALimit(t *testing.T) {
	testneed.Root(t)
	for _, c := range []struct{ asked, want time.Duration }{{0, 200 * time.Millisecond}, {20 * time.Millisecond, 20 * time.Millisecond}} {
		e := spinExperiment(5 * time.Second)
		e.Discard, e.Workloads[0].Baseline = c.asked, "host"
		if c.asked > 0 {
			e.Window = 150 * time.Millisecond
		}
		e.Named = []experiment.ArmSpec{{Name: "host", Environment: "host"}, {Name: "half", Environment: "cgroup", Options: record.Options{CPUs: 0.5}}}
		r, _, err := execute(context.Background(), t, e, catalog(plan.Rung{Environment: layers.Host}, plan.Rung{Environment: layers.Cgroup}))
		if err != nil {
			t.Fatal(err)
		}
		warned, ofWindow := false, false
		for _, l := range r.Lines {
			if w := l.Warning; w != nil && strings.Contains(said.English(w.Text), "is too short") && strings.Contains(said.English(w.Remedy), "make it 200ms") {
				warned = true
			}
			if w := l.Warning; w != nil && strings.Contains(said.English(w.Text), "window: 150ms is no multiple of 100ms") {
				ofWindow = true
			}
			if p := l.Pilot; p != nil && p.Discard != c.want.Seconds() {
				t.Errorf("asked for %s: %v s of settle time", c.asked, p.Discard)
			}
		}
		if short := c.asked > 0; warned != short || ofWindow != short {
			t.Errorf("asked for %s: warned %v, of the window %v", c.asked, warned, ofWindow)
		}
	}
}

// When a record with a shorter settle time, of an earlier tare, is continued, everything is
// measured again.
func TestContinuedWithALongerSettleTime(t *testing.T) {
	testneed.Root(t)
	host := inspect.Host("/")
	dir := t.TempDir() + "/result"
	for i, discard := range []time.Duration{20 * time.Millisecond, 0} {
		e := spinExperiment(5 * time.Second)
		e.Discard, e.Workloads[0].Baseline = discard, "host"
		e.Named = []experiment.ArmSpec{{Name: "host", Environment: "host"}, {Name: "half", Environment: "cgroup", Options: record.Options{CPUs: 0.5}}}
		p, err := plan.Build(e, catalog(plan.Rung{Environment: layers.Host}, plan.Rung{Environment: layers.Cgroup}), host, nil)
		if err != nil {
			t.Fatal(err)
		}
		var earlier *run.Earlier
		if i > 0 {
			if earlier, err = run.Reopen(dir); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := run.Execute(t.Context(), run.Config{
			ID: fmt.Sprint(idOf(t), i), Plan: p, Dir: dir, StateDir: t.TempDir(), Groups: host.Groups, Probes: probe.All(), Earlier: earlier,
			Decide: func(record.Workload, []record.Line) run.Decision { return run.Decision{} },
		}); err != nil {
			t.Fatal(err)
		}
	}
	r, err := record.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	var settled []float64
	for _, l := range r.Lines {
		if l.Pilot != nil {
			settled = append(settled, l.Pilot.Discard)
		}
	}
	if !slices.Equal(settled, []float64{0.02, 0.2}) {
		t.Errorf("settle times of %v s", settled)
	}
}
