package analysis

import (
	"math"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/record"
)

// reachedIn is the level of the 99th percentile in an arm of a synthetic run.
func reachedIn(t *testing.T, w world, arm string) *record.ArmLevel {
	t.Helper()
	r := w.result()
	r.Plan.Workloads[0].Objective = &record.Objective{Metric: "p99", Most: 0.002}
	e, err := analyseWith(r, 0)
	if err != nil {
		t.Fatal(err)
	}
	if o := e.Workloads[0].Objective; o == nil || o.Most != 0.002 {
		t.Fatalf("objective %+v", o)
	}
	for _, a := range e.Arms {
		if a.Arm == arm {
			return a.Reached
		}
	}
	t.Fatal("no arm " + arm)
	return nil
}

// The interval of a level contains the truth in 95 of 100 runs. Latencies are 0.4 ms times 0.5 plus an
// exponential, at 10 000 operations per second.
func TestLevelCoverage(t *testing.T) {
	truth := 0.4e-3 * (0.5 + math.Log(100))
	const runs = 60
	covered := 0
	for seed := range uint64(runs) {
		l := reachedIn(t, world{seed: seed + 1, generations: 5, blocks: 3, launchSD: 0.02, windowSD: 0.02}, "host")
		if l.Launches != 5 || !(l.Low < l.Value && l.Value < l.High) {
			t.Fatalf("%+v", l)
		}
		if l.Low <= truth && truth <= l.High {
			covered++
		}
	}
	if covered < 51 {
		t.Errorf("%d of %d intervals contain the truth, %v", covered, runs, truth)
	}
}

func TestLevelNeedsLaunches(t *testing.T) {
	l := reachedIn(t, world{seed: 1, generations: 3, blocks: 3}, "host")
	if l.High != 0 || !(l.Value > 0) || !strings.Contains(said.English(l.Reason), "launches") {
		t.Errorf("%+v", l)
	}
	l = reachedIn(t, world{seed: 1, generations: 5, blocks: 3, light: true}, "host")
	if l.High != 0 || l.Reason != fewBeyond {
		t.Errorf("without latencies: %+v", l)
	}
}

// The periods of the quota are those of the arm's group; an arm without a limit is not throttled.
func TestCPULimit(t *testing.T) {
	r := world{seed: 1, generations: 4, blocks: 3}.result()
	for i := range r.Plan.Workloads[0].Arms {
		if a := &r.Plan.Workloads[0].Arms[i]; a.Name == "cgroup" {
			a.CPUs, a.Burst = 0.5, 0.25
		}
	}
	for _, l := range r.Lines {
		if l.Block == nil {
			continue
		}
		for i := range l.Block.Windows {
			w := &l.Block.Windows[i]
			w.Probes[quotaPeriods], w.Probes[throttledPeriods] = record.Number(2), record.Number(0.5)
		}
	}
	e, err := Analyse(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range e.Arms {
		used, _ := a.Limit.Used.Get()
		throttled, ok := a.Limit.Throttled.Get()
		want := 0.0
		if a.Arm == "cgroup" {
			want = 0.25
		}
		if math.Abs(used-1) > 0.05 || !ok || math.Abs(throttled-want) > 1e-9 {
			t.Errorf("%s: %+v", a.Arm, a.Limit)
		}
		if a.Arm == "cgroup" && (a.Limit.CPUs != 0.5 || a.Limit.Burst != 0.25) {
			t.Errorf("%+v", a.Limit)
		}
	}
}
