package answer

import (
	"math"
	"slices"
	"testing"

	"github.com/tarelab/tare/record"
)

func ratio(percent, half float64) *record.Ratio {
	return &record.Ratio{Ratio: 1 + percent/100, Low: 1 + (percent-half)/100, High: 1 + (percent+half)/100}
}

// run is a ladder of two rungs over one load.
func run(v record.Verdict, percent, half float64) *record.Effects {
	effect := func(arm, base string) record.Effect {
		return record.Effect{Workload: "db", Metric: "throughput", Arm: arm, Baseline: base, Verdict: v, Typical: ratio(percent, half), Generations: 6}
	}
	return &record.Effects{
		Host:      record.Host{CPUs: 2},
		Workloads: []record.WorkloadResult{{Name: "db", Primary: "throughput", Baseline: "host", Blocks: 9, Generations: 6, Seconds: 60, NoiseFloor: 0.2}},
		Effects:   []record.Effect{effect("cgroup", "host"), effect("rootfs", "host")},
		Steps:     []record.Effect{effect("cgroup", "host"), effect("rootfs", "cgroup")},
		Left:      []record.Left{{Arm: "container", Reason: "no runc", Remedy: "apt install runc"}, {Arm: "nat", Reason: "no server"}},
		Kernel: []record.Kernel{{Workload: "db", Metric: "cpu.steal", Unit: "s", Per: "second",
			Values: map[string]record.Value{"host": record.Number(0.1), "rootfs": record.Number(0.4), "cgroup": record.Missing("none")}}},
	}
}

// The subject is the real container, else the top of the ladder. A skipped container is named with
// its remedy.
func TestSubject(t *testing.T) {
	e := run(record.Cost, -10, 2)
	a := Of(e)
	f := a.Loads[0].Findings
	if len(f) != 1 || f[0].Subject != record.SubjectLayers || f[0].Effect.Arm != "rootfs" || a.Standing != record.AnsweredAll {
		t.Fatalf("%+v", a)
	}
	if len(a.Untested) != 1 || a.Untested[0].Arm != "container" || len(a.Next) != 1 || a.Next[0].Kind != record.NextProvide {
		t.Errorf("untested %+v, next %+v", a.Untested, a.Next)
	}
	if f[0].Excluded != 0 || f[0].Largest == nil {
		t.Errorf("%+v", f[0])
	}
	x := e.Effects[1]
	x.Arm, x.Baseline = "container", "rootfs"
	e.Remainder = []record.Effect{x}
	x.Baseline = "host"
	e.Effects, e.Left = append(e.Effects, x), nil
	if a = Of(e); a.Loads[0].Findings[0].Subject != record.SubjectContainer || len(a.Untested) != 0 {
		t.Errorf("%+v", a)
	}
}

// An undecided effect rules out losses beyond its interval, widened by what dropped windows may
// hide, and has a next step.
func TestUndecided(t *testing.T) {
	e := run(record.Undecided, 0, 22)
	e.Workloads[0].Forecast = []record.Forecast{
		{Metric: "throughput", Half: 0.1, Seconds: 130}, {Metric: "throughput", Half: 0.05, Seconds: 520}, {Metric: "throughput", Half: 0.01, Seconds: 13000}, {Metric: "efficiency", Half: 0.02, Seconds: 1}}
	a := Of(e)
	if got := a.Loads[0].Findings[0].Excluded; math.Abs(got-0.22) > 1e-9 || a.Standing != record.AnsweredNone {
		t.Errorf("excluded %v, %s", got, a.Standing)
	}
	if len(a.Menu) != 3 || a.Menu[0] != (record.Offer{Half: 0.1, Seconds: 130}) {
		t.Errorf("menu %+v", a.Menu)
	}
	want := []record.NextStep{{Kind: record.NextProvide, Remedy: "apt install runc"}, {Kind: record.NextContinue, Seconds: 540}, {Kind: record.NextDedicated}}
	if !slices.Equal(a.Next, want) {
		t.Errorf("next %+v, want %+v", a.Next, want)
	}
	if a.Noise != (record.HostNoise{StealLow: 0.05, StealHigh: 0.2, Floor: 0.2}) {
		t.Errorf("noise %+v", a.Noise)
	}
	e.Effects[1].Bound = ratio(0, 30)
	if got := Of(e).Loads[0].Findings[0].Excluded; math.Abs(got-0.3) > 1e-9 {
		t.Errorf("excluded %v with the bound", got)
	}
}

// An effect that lacks launches rules nothing out, and the continuation has room for them.
func TestTooFewLaunches(t *testing.T) {
	e := run(record.Undecided, 0, 5)
	for i := range e.Effects {
		e.Effects[i].Generations = 1
	}
	e.Workloads[0].Generations = 1
	a := Of(e)
	if f := a.Loads[0].Findings[0]; f.Excluded != 0 || a.Standing != record.AnsweredNone {
		t.Errorf("%+v, %v", f, a.Standing)
	}
	e.Workloads[0].Seconds = 300 // the three launches that are missing take 900 s, more than a continuation usually gets
	if on := Of(e).Next[1]; on.Kind != record.NextContinue || on.Seconds != 900 {
		t.Errorf("next %+v", on)
	}
}

// No loss is an answer.
func TestNoLossDecides(t *testing.T) {
	a := Of(run(record.NoLoss, 2, 2.5))
	if !a.Loads[0].Decided || a.Standing != record.AnsweredAll || a.Loads[0].Findings[0].Excluded != 0 {
		t.Errorf("%+v", a.Loads[0])
	}
}

// A loss is split into parts only where the efficiency is decided.
func TestPart(t *testing.T) {
	for _, c := range []struct {
		verdict       record.Verdict
		percent, half float64
		want          record.LossPart
	}{
		{record.Cost, -10, 1, record.LossWork}, {record.Cost, -4, 1, record.LossBoth}, {record.Negligible, -0.2, 0.5, record.LossCPU},
		{record.NoLoss, 1, 1.5, record.LossCPU},
		{record.Gain, 3, 1, record.LossCPU}, {record.Undecided, -1, 5, ""},
	} {
		e := run(record.Cost, -10, 2)
		e.Effects = append(e.Effects, record.Effect{Workload: "db", Metric: "efficiency", Arm: "rootfs", Baseline: "host", Verdict: c.verdict, Typical: ratio(c.percent, c.half)})
		f := Of(e).Loads[0].Findings[0]
		if f.Part != c.want {
			t.Errorf("%s %v %%: %q, want %q", c.verdict, c.percent, f.Part, c.want)
		}
		if f.CPU == nil || math.Abs(f.CPU.Ratio*(1+c.percent/100)-1) > 1e-12 || f.CPU.Low > f.CPU.High {
			t.Errorf("CPU per operation %+v", f.CPU)
		}
	}
}

// A precision is offered where every load has a forecast of it or is as precise already: else the
// time would be that of some loads only.
func TestMenuOfAllLoads(t *testing.T) {
	e := run(record.Undecided, 0, 22)
	forecast := func(halves ...float64) (out []record.Forecast) {
		for _, h := range halves {
			out = append(out, record.Forecast{Metric: "throughput", Half: h, Seconds: 1 / h})
		}
		return out
	}
	e.Workloads[0].Forecast = forecast(0.2, 0.1)
	e.Workloads = append(e.Workloads, record.WorkloadResult{Name: "rpc", Primary: "throughput", Forecast: forecast(0.1, 0.05, 0.02)})
	want := []record.Offer{{Half: 0.2, Seconds: 5}, {Half: 0.1, Seconds: 20}}
	if got := Of(e).Menu; !slices.Equal(got, want) {
		t.Errorf("menu %+v, want %+v", got, want)
	}
	e.Workloads[0].Forecast[1].Soonest, e.Workloads[0].Forecast[1].Latest = 7, 14
	e.Workloads[1].Forecast[0].Soonest, e.Workloads[1].Forecast[0].Latest = 6, 13
	want[1].Soonest, want[1].Latest = 15, 25 // 20 - hypot(3, 4) and 20 + hypot(4, 3)
	if got := Of(e).Menu; !slices.Equal(got, want) {
		t.Errorf("menu with ranges %+v, want %+v", got, want)
	}
}

// Beside other work the CPU time that an arm received is the outcome of a competition: the answer
// is the efficiency.
func TestCompetition(t *testing.T) {
	beside := func(seconds float64, v record.Verdict) record.Finding {
		e := run(record.Cost, -20, 2)
		e.Effects[1].Parts = &record.Parts{CPU: *ratio(-18, 3), Efficiency: *ratio(-2, 1)}
		e.Effects = append(e.Effects, record.Effect{Workload: "db", Metric: "efficiency", Arm: "rootfs", Baseline: "host", Verdict: v, Typical: ratio(-2, 1)})
		e.Kernel = []record.Kernel{{Workload: "db", Metric: "cpu.foreign", Unit: "s", Per: "second",
			Values: map[string]record.Value{"host": record.Number(seconds), "rootfs": record.Number(0.1)}}}
		a := Of(e)
		f := a.Loads[0].Findings[0]
		if want := v != record.Undecided || seconds <= 0.2; a.Loads[0].Decided != want {
			t.Errorf("%v s, efficiency %v: decided %v", seconds, v, a.Loads[0].Decided)
		}
		return f
	}
	if f := beside(1.2, record.Cost); math.Abs(f.OtherWork-0.6) > 1e-12 || f.Received == nil || math.Abs(f.Received.Ratio-0.82) > 1e-12 {
		t.Errorf("other processes used 1.2 of 2 CPUs: %+v", f)
	}
	if f := beside(0.2, record.Cost); f.OtherWork != 0 || f.Received != nil {
		t.Errorf("a tenth of the CPUs: %+v", f)
	}
	beside(1.2, record.Undecided)
}
