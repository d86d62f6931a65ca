package report

import (
	"strings"
	"testing"

	"github.com/tarelab/tare/record"
)

// TestSentences reads the answers as a person would.
func TestSentences(t *testing.T) {
	effect := func(metric string, v record.Verdict, r *record.Ratio) record.Effect {
		return record.Effect{Workload: "oltp", Metric: metric, Arm: "container", Baseline: "host", Verdict: v, Typical: r, Generations: 6}
	}
	bursts := effect("throughput", record.Negligible, ratio(-0.2, 0.3))
	bursts.Intermittent, bursts.Slow, bursts.Total = true, 0.08, ratio(-1.8, 0.6)
	unknown := effect("throughput", record.Undecided, nil)
	unknown.Reason = "the load ended"
	open := effect("throughput", record.Undecided, ratio(-0.4, 1.8))
	open.Needed = 118
	few := effect("throughput", record.Undecided, ratio(-4, 1))
	few.Generations, few.Reason = 3, "a verdict needs 4 launches, 3 were made"
	invalid := effect("throughput", record.Invalid, ratio(-3, 1))
	invalid.Reason = "12 % of the windows were dropped"
	cost := effect("throughput", record.Cost, ratio(-3.1, 0.7))
	efficiency := func(v record.Verdict, percent, half float64) *record.Effect {
		x := effect("efficiency", v, ratio(percent, half))
		return &x
	}
	for _, c := range []struct {
		x, more *record.Effect
		want    string
	}{
		{&cost, nil, "The container costs throughput: -3.1 % [-3.8, -2.4]."},
		{&cost, efficiency(record.Cost, -3, 0.5), "The container costs throughput: -3.1 % [-3.8, -2.4]; each operation costs 3.1 % more CPU."},
		{&cost, efficiency(record.Cost, -1.5, 0.5), "The container costs throughput: -3.1 % [-3.8, -2.4]; each operation costs 1.5 % more CPU; it got less CPU."},
		{&cost, efficiency(record.Negligible, -0.1, 0.5), "The container costs throughput: -3.1 % [-3.8, -2.4]; it got less CPU."},
		{&cost, efficiency(record.Undecided, -0.1, 3), "The container costs throughput: -3.1 % [-3.8, -2.4]."},
		{&open, efficiency(record.Cost, -2, 0.5), "Undecided for the container: -0.4 % [-2.2, +1.4]; CPU time per operation +2.0 % [+1.5, +2.6]; " +
			"a loss above 2.2 % is ruled out; about 2 min more would decide it against a margin of 1 %, if it is as large as it looks."},
		{ptr(effect("throughput", record.Gain, ratio(2, 0.5))), nil, "The container gains throughput: +2.0 % [+1.5, +2.5]."},
		{ptr(effect("p99", record.Cost, ratio(12, 4))), nil, "The container raises latency (p99): +12.0 % [+8.0, +16.0]."},
		{ptr(effect("p99", record.Gain, ratio(-5, 2))), nil, "The container lowers latency (p99): -5.0 % [-7.0, -3.0]."},
		{ptr(effect("p99", record.Undecided, ratio(-5, 7))), nil, "NO ANSWER: 45 s decide nothing. Undecided for the container: -5.0 % [-12.0, +2.0]; a rise above 2.0 % is ruled out."},
		{ptr(effect("throughput", record.Negligible, ratio(-0.6, 0.3))), nil,
			"The container makes no difference larger than 1 % (-0.6 % [-0.9, -0.3])."},
		{&bursts, nil, "The container makes no difference larger than 1 % (-0.2 % [-0.5, +0.1]); it comes in bursts: " +
			"8.0 % of the windows are slow; all windows together: -1.8 % [-2.4, -1.2]."},
		{ptr(effect("throughput", record.NoLoss, ratio(1, 1.8))), nil, "The container causes no loss larger than 1 % (+1.0 % [-0.8, +2.8])."},
		{&few, nil, "NO ANSWER: a verdict needs 4 launches of each arm; about 15 s more for the rest. Undecided for the container: " +
			"-4.0 % [-5.0, -3.0]; a verdict needs 4 launches, 3 were made; about 15 s more for the rest."},
		{&open, nil, "NO ANSWER: 45 s decide nothing. Undecided for the container: -0.4 % [-2.2, +1.4]; a loss above 2.2 % is ruled out; about 2 min more would decide it against a margin of 1 %, if it is as large as it looks."},
		{&unknown, nil, "NO ANSWER: 45 s decide nothing. Undecided for the container: the load ended."},
		{&invalid, nil, "NO ANSWER: 45 s decide nothing. Invalid: no answer for the container: 12 % of the windows were dropped."},
		{ptr(effect("throughput", record.Cost, nil)), nil, "NO ANSWER: 45 s decide nothing. Cost: the container, by an amount that is not known."},
	} {
		step := *c.x
		step.Baseline, step.Verdict, step.Intermittent = "security", record.Undecided, false
		e := &record.Effects{Margin: 0.01, Seconds: 45, Ended: "budget", Effects: []record.Effect{*c.x}, Remainder: []record.Effect{step},
			Workloads: []record.WorkloadResult{{Name: "oltp", Primary: c.x.Metric, Baseline: "host", Seconds: 45, Blocks: 30, Generations: c.x.Generations}}}
		if c.more != nil {
			e.Effects = append(e.Effects, *c.more)
		}
		if got := verdictSentence(answered(e), workloads(e)).String(); got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
	}
}

func ptr[T any](x T) *T { return &x }

// TestSentencesBesideOtherWork: the CPU time that an arm received is no price of the arm, and what
// an operation costs is said for itself.
func TestSentencesBesideOtherWork(t *testing.T) {
	for _, c := range []struct {
		received, efficiency *record.Ratio
		verdict              record.Verdict
		want                 string
	}{
		{ratio(-18, 3), ratio(-2, 0.5), record.Cost, "The container got 18.0 % less CPU beside other work on this host, which used up to 60 % of the CPUs; per operation it costs 2.0 % more."},
		{ratio(18, 3), ratio(-0.1, 0.5), record.Negligible, "The container got 18.0 % more CPU beside other work on this host, which used up to 60 % of the CPUs; per operation it costs the same (within 1 %)."},
		{ratio(2, 3), ratio(-2, 5), record.Undecided, "NO ANSWER: this host was too unsteady for 45 s (other processes used up to 60 % of the CPUs). " +
			"The container got about as much CPU (+2.0 % [-1.0, +5.0]) beside other work on this host, which used up to 60 % of the CPUs; per operation it is undecided (CPU +2.0 % [-2.9, +7.5])."},
	} {
		x := record.Effect{Workload: "oltp", Metric: "throughput", Arm: "container", Baseline: "host", Verdict: record.Cost, Typical: ratio(-20, 3),
			Parts: &record.Parts{CPU: *c.received, Efficiency: *c.efficiency}}
		y := record.Effect{Workload: "oltp", Metric: "efficiency", Arm: "container", Baseline: "host", Verdict: c.verdict, Typical: c.efficiency}
		step := x
		step.Baseline = "security"
		e := &record.Effects{Margin: 0.01, Seconds: 45, Ended: "budget", Host: record.Host{CPUs: 2}, Effects: []record.Effect{x, y}, Remainder: []record.Effect{step},
			Kernel:    []record.Kernel{{Workload: "oltp", Metric: "cpu.foreign", Unit: "s", Per: "second", Values: map[string]record.Value{"container": record.Number(1.2)}}},
			Workloads: []record.WorkloadResult{{Name: "oltp", Primary: "throughput", Baseline: "host", Seconds: 45, Blocks: 30}}}
		if got := verdictSentence(answered(e), workloads(e)).String(); got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
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
	e := &record.Effects{Margin: 0.01, Ended: "budget", Seconds: 90,
		Effects:   []record.Effect{cost("oltp", "container"), cost("rpc", "container")},
		Remainder: []record.Effect{cost("oltp", "container"), cost("rpc", "container")},
		Twin:      []record.Effect{cost("rpc", "twin")},
		Workloads: []record.WorkloadResult{result("oltp"), result("rpc")}}
	title := func() string { return verdictSentence(answered(e), workloads(e)).String() }
	if got, want := title(), "The container costs throughput in oltp (-30.0 %); not to be trusted in rpc."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	e.Twin = append(e.Twin, cost("oltp", "twin"))
	if got, want := title(), "NO ANSWER: 1 min 30 s decide nothing."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if !strings.Contains(told(t, e, 100), "do not trust oltp (-30.0 % [-35.0, -25.0]) and rpc (-30.0 % [-35.0, -25.0]): the twin, which is the baseline again, differs") {
		t.Errorf("the doubt is not told:\n%s", told(t, e, 100))
	}
}

// TestTitleOfWork: what an operation costs is an answer where the throughput is open.
func TestTitleOfWork(t *testing.T) {
	effect := func(workload, metric string, v record.Verdict, percent, wide float64) record.Effect {
		return record.Effect{Workload: workload, Metric: metric, Arm: "container", Baseline: "host", Verdict: v, Typical: ratio(percent, wide), Generations: 6}
	}
	result := func(name string) record.WorkloadResult {
		return record.WorkloadResult{Name: name, Primary: "throughput", Baseline: "host", Seconds: 45, Blocks: 30}
	}
	e := &record.Effects{Margin: 0.01, Ended: "budget", Seconds: 90,
		Effects: []record.Effect{
			effect("oltp", "throughput", record.Undecided, -1, 3), effect("oltp", "efficiency", record.Cost, -5, 1),
			effect("rpc", "throughput", record.Undecided, -1, 3), effect("rpc", "efficiency", record.Undecided, -1, 3)},
		Workloads: []record.WorkloadResult{result("oltp"), result("rpc")}}
	want := "The container needs more CPU time per operation in oltp (+5.3 %); undecided in rpc."
	if got := verdictSentence(answered(e), workloads(e)).String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := told(t, e, 100); !strings.Contains(got, "CPU time per operation +5.3 % [") {
		t.Errorf("the amount is not told:\n%s", got)
	}
}
