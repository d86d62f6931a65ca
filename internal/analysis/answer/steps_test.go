package answer

import (
	"math"
	"slices"
	"testing"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/record"
)

// Steps that are shown to differ are named bottom up, gains too; the others are listed.
func TestSteps(t *testing.T) {
	step := func(v record.Verdict, r *record.Ratio) record.Effect {
		return record.Effect{Metric: "throughput", Verdict: v, Typical: r}
	}
	w := arrange.Workload{
		WorkloadResult: record.WorkloadResult{Primary: "throughput"}, Ladder: []string{"host", "cgroup", "rootfs", "security", "container"},
		Step: map[arrange.Key]record.Effect{
			{Metric: "throughput", Arm: "cgroup"}:    step(record.Slower, ratio(-5, 1)),
			{Metric: "throughput", Arm: "rootfs"}:    step(record.Undecided, ratio(0, 1)),
			{Metric: "throughput", Arm: "security"}:  step(record.Slower, nil),
			{Metric: "throughput", Arm: "container"}: step(record.Slower, ratio(-50, 1)), // the remainder goes first
		},
		Remainder: map[arrange.Key]record.Effect{{Metric: "throughput", Arm: "container"}: step(record.Faster, ratio(5, 1))},
	}
	shown, not := steps(w)
	if len(shown) != 2 || shown[0].Typical.Ratio != 0.95 || shown[1].Typical.Ratio != 1.05 || !slices.Equal(not, []string{"rootfs", "security"}) {
		t.Errorf("shown %+v, not %q", shown, not)
	}
	w.Ladder = w.Ladder[:2]
	if shown, not := steps(w); shown != nil || not != nil {
		t.Errorf("one step is the whole loss: %+v, %q", shown, not)
	}
}

// The network is the cause where its shown steps have at least half of a loss.
func TestNetworkShare(t *testing.T) {
	whole := record.Effect{Verdict: record.Slower, Typical: ratio(-30, 2)}
	nat := record.Effect{Arm: "nat", Verdict: record.Slower, Typical: ratio(-20, 2)}
	if got := networkShare(record.AnswerRow{Effect: &whole, Steps: []record.Effect{nat}}); math.Abs(got-math.Log(0.8)/math.Log(0.7)) > 1e-12 {
		t.Errorf("%v", got)
	}
	nat.Arm = "security"
	if got := networkShare(record.AnswerRow{Effect: &whole, Steps: []record.Effect{nat}}); got != 0 {
		t.Errorf("seccomp: %v", got)
	}
}

// The use of the CPUs is at most 100 %, also where counters of short windows give more.
func TestOthersUseAtMostAll(t *testing.T) {
	e := &record.Effects{Workloads: []record.WorkloadResult{{}}, Kernel: []record.Kernel{
		{Metric: "cpu.foreign", Per: "second", Values: map[string]record.Value{"host": record.Number(2.42)}},
		{Metric: "cpu.steal", Per: "second", Values: map[string]record.Value{"host": record.Number(2.2)}},
	}}
	e.Host.CPUs = 2
	if n := noise(e); n.ForeignHigh != 1 || n.StealHigh != 1 {
		t.Errorf("%+v", n)
	}
}

// Stalls are a cause of a loss, not of a gain.
func TestStallsOfGain(t *testing.T) {
	for v, want := range map[record.Verdict]bool{record.Slower: true, record.Faster: false} {
		e := run(v, map[record.Verdict]float64{record.Slower: -30, record.Faster: 30}[v], 2)
		for i := range e.Effects {
			e.Effects[i].Intermittent = true
		}
		if r := only(t, Of(e)); slices.Contains(r.Says.Causes, record.CauseBursts) != want {
			t.Errorf("%v: %v", v, r.Says.Causes)
		}
	}
}
