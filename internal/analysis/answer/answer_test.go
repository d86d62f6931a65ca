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

// only is the single row of an answer.
func only(t *testing.T, a *record.Answers) record.AnswerRow {
	t.Helper()
	if len(a.Tables) != 1 || len(a.Tables[0].Rows) != 1 {
		t.Fatalf("want one table of one row: %+v", a.Tables)
	}
	return a.Tables[0].Rows[0]
}

// The subject is the real container, else the top of the ladder. A skipped container is named with
// its remedy.
func TestSubject(t *testing.T) {
	e := run(record.Cost, -10, 2)
	a := Of(e)
	r := only(t, a)
	if table := a.Tables[0]; table.Question != record.AskedLayers || table.Container || table.Subject != "" || r.Arm != "rootfs" || a.Standing != record.AnsweredAll {
		t.Fatalf("%+v", a)
	}
	if len(a.Skipped) != 1 || a.Skipped[0].Arm != "container" || len(a.Next) != 1 || a.Next[0].Kind != record.NextProvide {
		t.Errorf("skipped %+v, next %+v", a.Skipped, a.Next)
	}
	if r.Says.Word != record.SaysSlower || r.Says.Bound != 0 || len(r.Steps) != 2 || len(r.Unshown) != 0 {
		t.Errorf("%+v", r)
	}
	x := e.Effects[1]
	x.Arm, x.Baseline = "container", "rootfs"
	e.Remainder = []record.Effect{x}
	x.Baseline = "host"
	e.Effects, e.Left = append(e.Effects, x), nil
	if a = Of(e); !a.Tables[0].Container || only(t, a).Arm != "container" || len(a.Skipped) != 0 {
		t.Errorf("%+v", a)
	}
}

// The word of a row and its bound, for each verdict of the effect.
func TestSays(t *testing.T) {
	for _, c := range []struct {
		verdict       record.Verdict
		percent, half float64
		want          record.AnswerWord
		bound         float64
	}{
		{record.Cost, -10, 2, record.SaysSlower, 0}, {record.Gain, 10, 2, record.SaysFaster, 0},
		{record.Negligible, -0.2, 0.5, record.SaysNoDifference, 0.007}, {record.Negligible, 0.3, 0.5, record.SaysNoDifference, 0.008},
		{record.NoLoss, 1, 1.8, record.SaysNoLoss, 0.008}, {record.NoLoss, 4, 2, record.SaysNoLoss, 0},
		{record.Undecided, 0, 22, record.SaysUndecided, 0.22}, {record.Undecided, 0, 60, record.SaysUndecided, 0},
		{record.Invalid, 0, 1, record.SaysInvalid, 0},
	} {
		if s := only(t, Of(run(c.verdict, c.percent, c.half))).Says; s.Word != c.want || math.Abs(s.Bound-c.bound) > 1e-9 {
			t.Errorf("%v %v ±%v: %+v, want %s %v", c.verdict, c.percent, c.half, s, c.want, c.bound)
		}
	}
	e := run(record.Undecided, 0, 22)
	e.Effects[1].Bound = ratio(0, 30)
	if got := only(t, Of(e)).Says.Bound; math.Abs(got-0.3) > 1e-9 {
		t.Errorf("bound %v with the worst case for dropped windows", got)
	}
	e.Twin = []record.Effect{{Workload: "db", Metric: "throughput", Arm: "twin", Baseline: "host", Verdict: record.Cost, Typical: ratio(-7, 2)}}
	if s := only(t, Of(e)).Says; s.Word != record.SaysInvalid || s.Reason != "the baseline differs from itself by -7.0 % [-9.0, -5.0]" {
		t.Errorf("the twin differs: %+v", s)
	}
}

// An undecided answer has a next step.
func TestNext(t *testing.T) {
	e := run(record.Undecided, 0, 22)
	e.Workloads[0].Forecast = []record.Forecast{
		{Metric: "throughput", Half: 0.1, Seconds: 130}, {Metric: "throughput", Half: 0.05, Seconds: 520}, {Metric: "throughput", Half: 0.01, Seconds: 13000}, {Metric: "efficiency", Half: 0.02, Seconds: 1}}
	a := Of(e)
	if a.Standing != record.AnsweredNone || len(a.Menu) != 3 || a.Menu[0] != (record.Offer{Half: 0.1, Seconds: 130}) {
		t.Errorf("%s, menu %+v", a.Standing, a.Menu)
	}
	want := []record.NextStep{{Kind: record.NextProvide, Remedy: "apt install runc"}, {Kind: record.NextContinue, Seconds: 540}, {Kind: record.NextDedicated}}
	if !slices.Equal(a.Next, want) {
		t.Errorf("next %+v, want %+v", a.Next, want)
	}
	if a.Noise != (record.HostNoise{StealLow: 0.05, StealHigh: 0.2, Floor: 0.2}) || !a.Busy {
		t.Errorf("noise %+v, busy %v", a.Noise, a.Busy)
	}
}

// A continuation takes as long as the rows say that they need, to whole minutes, at most ten.
func TestNextAsRowsSay(t *testing.T) {
	for row, want := range map[float64]float64{15: 60, 61: 120, 5000: 600} {
		e := run(record.Undecided, 0, 22)
		e.Workloads[0].Forecast = []record.Forecast{{Metric: "throughput", Half: 0.1, Seconds: 490}}
		e.Effects[1].Needed = row
		a := Of(e)
		if s := only(t, a).Says; s.Seconds != row {
			t.Errorf("the row says %v s, want %v", s.Seconds, row)
		}
		if on := a.Next[1]; on.Kind != record.NextContinue || on.Seconds != want {
			t.Errorf("next %+v of a row that needs %v s, want %v s", on, row, want)
		}
	}
}

// An effect that lacks launches has no bound, and the continuation has room for them.
func TestTooFewLaunches(t *testing.T) {
	e := run(record.Undecided, 0, 5)
	for i := range e.Effects {
		e.Effects[i].Generations = 1
	}
	e.Workloads[0].Generations = 1
	a := Of(e)
	if s := only(t, a).Says; s.Bound != 0 || s.Seconds != 180 || a.Standing != record.AnsweredNone {
		t.Errorf("%+v, %v", s, a.Standing)
	}
	e.Effects[1].Needed = 700
	if s := only(t, Of(e)).Says; s.Seconds != 700 {
		t.Errorf("more launches and more precision: %v s", s.Seconds)
	}
	e.Workloads[0].Seconds = 300 // the three launches that are missing take 900 s, more than a continuation usually gets
	if on := Of(e).Next[1]; on.Kind != record.NextContinue || on.Seconds != 900 {
		t.Errorf("next %+v", on)
	}
}

// A loss that is more than twice what the baseline differs from itself by keeps its answer, with the reason.
func TestOutgrowsTheTwin(t *testing.T) {
	for percent, want := range map[float64]record.AnswerWord{-50: record.SaysSlower, -14: record.SaysInvalid} {
		e := run(record.Cost, percent, 1)
		e.Twin = []record.Effect{{Workload: "db", Metric: "throughput", Arm: "twin", Baseline: "host", Verdict: record.Cost, Typical: ratio(-7, 2)}}
		if s := only(t, Of(e)).Says; s.Word != want || s.Reason != "the baseline differs from itself by -7.0 % [-9.0, -5.0]" {
			t.Errorf("%v %%: %+v", percent, s)
		}
	}
}

// The causes of a loss need a decided efficiency.
func TestCauses(t *testing.T) {
	for _, c := range []struct {
		verdict       record.Verdict
		percent, half float64
		want          []record.Cause
	}{
		{record.Cost, -10, 1, []record.Cause{record.CauseWork}}, {record.Cost, -4, 1, []record.Cause{record.CauseWork, record.CauseCPU}},
		{record.Negligible, -0.2, 0.5, []record.Cause{record.CauseCPU}}, {record.NoLoss, 1, 1.5, []record.Cause{record.CauseCPU}},
		{record.Gain, 3, 1, []record.Cause{record.CauseCPU}}, {record.Undecided, -1, 5, nil},
	} {
		e := run(record.Cost, -10, 2)
		e.Effects = append(e.Effects, record.Effect{Workload: "db", Metric: "efficiency", Arm: "rootfs", Baseline: "host", Verdict: c.verdict, Typical: ratio(c.percent, c.half)})
		if got := only(t, Of(e)).Says.Causes; !slices.Equal(got, c.want) {
			t.Errorf("%s %v %%: %q, want %q", c.verdict, c.percent, got, c.want)
		}
	}
	for probe, c := range map[string]struct {
		host, arm float64
		want      record.Cause
	}{
		"cpu.throttled": {0, 0.3, record.CauseThrottle}, "pressure.io.some": {0, 0.3, record.CauseDisk}, "pressure.cpu.some": {0.6, 0.5, record.CauseWait},
	} {
		e := run(record.Cost, -10, 2)
		e.Effects = append(e.Effects, record.Effect{Workload: "db", Metric: "efficiency", Arm: "rootfs", Baseline: "host", Verdict: record.Negligible, Typical: ratio(0, 0.5)})
		for _, arm := range []string{"rootfs", "cgroup"} {
			e.Kernel = []record.Kernel{{Workload: "db", Metric: probe, Unit: "s", Per: "second", Values: map[string]record.Value{"host": record.Number(c.host), arm: record.Number(c.arm)}}}
			if got := only(t, Of(e)).Says.Causes; slices.Contains(got, c.want) != (arm == "rootfs") {
				t.Errorf("%s of %s: %q", probe, arm, got)
			}
		}
	}
	e := run(record.Cost, -10, 2)
	e.Effects = append(e.Effects, record.Effect{Workload: "db", Metric: "efficiency", Arm: "rootfs", Baseline: "host", Verdict: record.Negligible, Typical: ratio(0, 0.5)})
	for probe, x := range map[string]float64{"pressure.cpu.some": 0.5, "pressure.cpu.full": 0.9} {
		e.Kernel = append(e.Kernel, record.Kernel{Workload: "db", Metric: probe, Unit: "s", Per: "second", Values: map[string]record.Value{"host": record.Number(0.6), "rootfs": record.Number(x)}})
	}
	if got := only(t, Of(e)).Says.Causes; !slices.Equal(got, []record.Cause{record.CauseCPU}) {
		t.Errorf("all threads wait for a CPU at once: %q", got)
	}
}

// A network that is the only difference of another comparison, and has most of the loss, is its cause: less CPU
// time was received because of it.
func TestNetworkOfAnOption(t *testing.T) {
	for _, c := range []struct {
		option float64 // percent
		alone  bool
		want   record.Cause
	}{{-45, true, record.CauseNetwork}, {-45, false, record.CauseCPU}, {-10, true, record.CauseCPU}, {20, true, record.CauseCPU}} {
		e := run(record.Cost, -50, 2)
		e.Effects = append(e.Effects, record.Effect{Workload: "db", Metric: "efficiency", Arm: "rootfs", Baseline: "host", Verdict: record.Negligible, Typical: ratio(0, 0.5)})
		e.Options = []record.Effect{{Workload: "db", Metric: "throughput", Arm: "rootfs", Baseline: "cgroup", Verdict: record.Cost, Typical: ratio(c.option, 2), NetworkAlone: c.alone}}
		if got := byNetwork(only(t, Of(e)), e.Options).Says.Causes; !slices.Equal(got, []record.Cause{c.want}) {
			t.Errorf("%+v: %q", c, got)
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
// is the CPU time per operation, unless the arm's own limit held it back for longer than that work ran.
func TestCompetition(t *testing.T) {
	for _, c := range []struct {
		seconds float64 // of two CPUs
		own     float64 // more in the arm: work of the kernel for it
		held    float64 // seconds per second in which the arm's own limit throttled it
		verdict record.Verdict
		word    record.AnswerWord
		metric  string
	}{
		{1.2, 0, 0, record.Cost, record.SaysSlower, "cpu_per_op"}, {1.2, 0, 0, record.Undecided, record.SaysUndecided, "cpu_per_op"},
		{0.1, 0, 0, record.Cost, record.SaysSlower, ""}, {0.1, 0, 0, record.Undecided, record.SaysSlower, ""},
		{0.1, 1.1, 0, record.Cost, record.SaysSlower, ""}, {0.1, 1.1, 0, record.Undecided, record.SaysSlower, ""},
		{1.2, 0, 1.1, record.Undecided, record.SaysUndecided, "cpu_per_op"}, {1.2, 0, 1.3, record.Undecided, record.SaysSlower, ""},
	} {
		e := run(record.Cost, -20, 2)
		e.Effects[1].Parts = &record.Parts{CPU: *ratio(-18, 3), Efficiency: *ratio(-2, 1)}
		e.Effects = append(e.Effects, record.Effect{Workload: "db", Metric: "efficiency", Arm: "rootfs", Baseline: "host", Verdict: c.verdict, Typical: ratio(-2, 1), Generations: 6})
		e.Kernel = []record.Kernel{{Workload: "db", Metric: "cpu.foreign", Unit: "s", Per: "second",
			Values: map[string]record.Value{"host": record.Number(c.seconds), "rootfs": record.Number(c.seconds + c.own)}},
			{Workload: "db", Metric: "cpu.throttled", Unit: "s", Per: "second", Values: map[string]record.Value{"rootfs": record.Number(c.held)}}}
		if s := only(t, Of(e)).Says; s.Word != c.word || s.Metric != c.metric {
			t.Errorf("%v s, efficiency %v: %+v", c.seconds, c.verdict, s)
		}
	}
}

// Where the throughput is undecided, CPU time per operation decides.
func TestEfficiencyDecides(t *testing.T) {
	e := run(record.Undecided, 0, 5)
	e.Effects = append(e.Effects, record.Effect{Workload: "db", Metric: "efficiency", Arm: "rootfs", Baseline: "host", Verdict: record.Cost, Typical: ratio(-4, 1), Generations: 6})
	if a := Of(e); only(t, a).Says.Word != record.SaysSlower || only(t, a).Says.Metric != "cpu_per_op" || a.Standing != record.AnsweredAll {
		t.Errorf("%+v", a.Tables)
	}
}

// The arms on pods that could not be had are rows, with reason and remedy; those of other experiments are not.
func TestSkippedPods(t *testing.T) {
	e := run(record.Cost, -10, 2)
	e.Steps, e.Workloads[0].Baseline = nil, "host"
	e.Left = []record.Left{{Workload: "db", Arm: "slow", Reason: "no StorageClass", Remedy: "name another"}, {Workload: "db", Arm: "slow", Reason: "again"},
		{Workload: "db", Arm: "host", Reason: "busy"}, {Workload: "other", Arm: "x", Reason: "busy"}, {Workload: "db", Arm: "cgroup", Reason: "ended"}}
	rows := func() (arms []string) {
		for _, r := range Of(e).Tables[0].Rows {
			arms = append(arms, r.Arm+" "+string(r.Says.Word)+" "+r.Says.Remedy)
		}
		return arms
	}
	if got := Of(e).Tables[0]; got.Question != record.AskedArms {
		t.Fatalf("%+v", got)
	}
	want := []string{"cgroup slower ", "rootfs slower "}
	if got := rows(); !slices.Equal(got, want) {
		t.Errorf("on the host: %q", got)
	}
	e.Arms = []record.ArmResult{{Workload: "db", Arm: "host", Settings: []record.Setting{{Name: "pod.qos", Got: "BestEffort"}}}}
	want = append(want, "slow skipped name another")
	if got := rows(); !slices.Equal(got, want) {
		t.Errorf("on pods: %q", got)
	}
	if a := Of(e); a.Standing != record.AnsweredPartly {
		t.Errorf("%s", a.Standing)
	}
}
