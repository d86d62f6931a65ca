package answer

import (
	"testing"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/record"
)

// A finding is Single only where all steps were measured, and Unmeasured otherwise.
func TestStepsWithoutAnInterval(t *testing.T) {
	half := &record.Ratio{Ratio: 0.5, Low: 0.4, High: 0.6}
	for name, c := range map[string]struct {
		step               *record.Ratio
		single, unmeasured bool
	}{"measured": {&record.Ratio{Ratio: 1, Low: 0.9, High: 1.1}, true, false}, "not": {nil, false, true}} {
		w := arrange.Workload{
			WorkloadResult: record.WorkloadResult{Primary: "throughput"}, Ladder: []string{"host", "cgroup", "rootfs"},
			Step: map[arrange.Key]record.Effect{
				{Metric: "throughput", Arm: "cgroup"}: {Metric: "throughput", Typical: c.step},
				{Metric: "throughput", Arm: "rootfs"}: {Metric: "throughput", Typical: half},
			},
		}
		f := record.Finding{Effect: record.Effect{Metric: "throughput", Verdict: record.Cost, Typical: half}}
		largest(w, &f)
		if f.Single != c.single || f.Unmeasured != c.unmeasured {
			t.Errorf("%s: single %v, unmeasured %v", name, f.Single, f.Unmeasured)
		}
	}
}

// The use of the CPUs is at most 100 %, also where counters of short windows give more.
func TestOthersUseAtMostAll(t *testing.T) {
	e := &record.Effects{Kernel: []record.Kernel{
		{Metric: "cpu.foreign", Per: "second", Values: map[string]record.Value{"host": record.Number(2.42)}},
		{Metric: "cpu.steal", Per: "second", Values: map[string]record.Value{"host": record.Number(2.2)}},
	}}
	e.Host.CPUs = 2
	if n := noise(e); n.ForeignHigh != 1 || n.StealHigh != 1 {
		t.Errorf("%+v", n)
	}
}
