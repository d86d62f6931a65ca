package report

import (
	"strings"
	"testing"

	"github.com/tarelab/tare/record"
)

// TestSentences reads the answers as a person would.
func TestSentences(t *testing.T) {
	effect := func(metric string, v record.Verdict, r *record.Ratio) record.Effect {
		return record.Effect{Workload: "oltp", Metric: metric, Arm: "container", Baseline: "host", Verdict: v, Typical: r}
	}
	intermittent := effect("throughput", record.Negligible, ratio(-0.2, 0.3))
	intermittent.Intermittent, intermittent.Slow, intermittent.Total = true, 0.08, ratio(-1.8, 0.6)
	unknown := effect("throughput", record.Undecided, nil)
	unknown.Reason = "the load ended"
	open := effect("throughput", record.Undecided, ratio(-0.4, 1.8))
	open.Needed = 118
	invalid := effect("throughput", record.Invalid, ratio(-3, 1))
	invalid.Reason = "12 % of the blocks were dropped"
	for _, c := range []struct {
		x    record.Effect
		want string
	}{
		{effect("throughput", record.Cost, ratio(-3.1, 0.7)), "the container costs 3.1 % of throughput [2.4, 3.8]."},
		{effect("throughput", record.Gain, ratio(2, 0.5)), "the container gains 2.0 % of throughput [1.5, 2.5]."},
		{effect("p99", record.Cost, ratio(12, 4)), "the container raises latency (p99) by 12.0 % [8.0, 16.0]."},
		{effect("p99", record.Gain, ratio(-5, 2)), "the container lowers latency (p99) by 5.0 % [3.0, 7.0]."},
		{effect("cpu_per_op", record.Cost, ratio(2, 1)), "the container raises CPU time per operation by 2.0 % [1.0, 3.0]."},
		{effect("throughput", record.Negligible, ratio(-0.6, 0.3)),
			"the container makes no difference larger than 1 % (-0.6 % [-0.9, -0.3])."},
		{intermittent, "the container makes no difference larger than 1 % in a typical window, but it is intermittent: " +
			"8.0 % of the windows are slow; all windows together: -1.8 % [-2.4, -1.2]."},
		{open, "undecided for the container: -0.4 % [-2.2, +1.4] after 45 s; about 2 min more would decide 1 %."},
		{unknown, "undecided for the container: the load ended."},
		{invalid, "invalid: no answer for the container: 12 % of the blocks were dropped."},
		{effect("throughput", record.Cost, nil), "cost: the container, by an amount that is not known."},
	} {
		step := c.x
		step.Baseline, step.Verdict, step.Intermittent = "security", record.Undecided, false
		e := &record.Effects{Margin: 0.01, Effects: []record.Effect{c.x}, Remainder: []record.Effect{step},
			Workloads: []record.WorkloadResult{{Name: "oltp", Primary: c.x.Metric, Baseline: "host", Seconds: 45, Blocks: 30}}}
		var b strings.Builder
		for _, p := range headline(e, workloads(e)[0]) {
			b.WriteString(p.text)
		}
		if b.String() != c.want {
			t.Errorf("got  %q\nwant %q", b.String(), c.want)
		}
	}
}

// TestLadderOrder puts rungs above what they step from, however they come.
func TestLadderOrder(t *testing.T) {
	step := func(arm, below string) record.Effect {
		return record.Effect{Workload: "w", Metric: "throughput", Arm: arm, Baseline: below}
	}
	e := &record.Effects{
		Workloads: []record.WorkloadResult{{Name: "w", Primary: "throughput", Baseline: "host"}},
		Effects:   []record.Effect{step("limit", "host")},
		Steps:     []record.Effect{step("c", "b"), step("b", "a"), step("a", "host"), step("x", "y"), step("y", "x")},
		Twin:      []record.Effect{step("twin", "host")},
	}
	w := workloads(e)[0]
	if got, want := strings.Join(w.arms(), " "), "host a b c x y limit twin"; got != want {
		t.Errorf("arms %q, want %q", got, want)
	}
}

// TestTitleOfDoubts: a cost is no headline where the twin differs as well.
func TestTitleOfDoubts(t *testing.T) {
	cost := func(workload, arm string) record.Effect {
		return record.Effect{Workload: workload, Metric: "throughput", Arm: arm, Baseline: "host", Verdict: record.Cost, Typical: ratio(-30, 5)}
	}
	result := func(name string) record.WorkloadResult {
		return record.WorkloadResult{Name: name, Primary: "throughput", Baseline: "host", Seconds: 45, Blocks: 30}
	}
	e := &record.Effects{Margin: 0.01, Ended: "budget",
		Effects:   []record.Effect{cost("oltp", "container"), cost("rpc", "container")},
		Remainder: []record.Effect{cost("oltp", "container"), cost("rpc", "container")},
		Twin:      []record.Effect{cost("rpc", "twin")},
		Workloads: []record.WorkloadResult{result("oltp"), result("rpc")}}
	title := func() string {
		var b strings.Builder
		for _, p := range oneSentence(e, workloads(e)) {
			b.WriteString(p.text)
		}
		return b.String()
	}
	if got, want := title(), "The container costs 30.0 % of throughput in oltp; not to be trusted in rpc."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	e.Twin = append(e.Twin, cost("oltp", "twin"))
	if got, want := title(), "Not to be trusted for the container in oltp and rpc."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
