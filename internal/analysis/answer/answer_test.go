package answer

import (
	"slices"
	"testing"

	"github.com/tarelab/tare/internal/base/said"
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
		Left:      []record.Left{{Arm: "container", Reason: record.InProse("no runc"), Remedy: record.InProse("apt install runc")}, {Arm: "nat", Reason: record.InProse("no server")}},
		Kernel: []record.Kernel{{Workload: "db", Metric: "cpu.steal", Unit: "s", Per: "second",
			Values: map[string]record.Value{"host": record.Number(0.1), "rootfs": record.Number(0.4), "cgroup": record.Missing(record.InProse("none"))}}},
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
	e := run(record.Slower, -10, 2)
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

// A row says what its effect has: the word, the bound, the time, and the reason where it has no bound.
func TestSays(t *testing.T) {
	for verdict, want := range map[record.Verdict]record.AnswerWord{
		record.Slower: record.SaysSlower, record.Faster: record.SaysFaster, record.NoDifference: record.SaysNoDifference,
		record.NoLoss: record.SaysNoLoss, record.Undecided: record.SaysUndecided, record.Invalid: record.SaysInvalid,
	} {
		e := run(verdict, -1, 2)
		x := &e.Effects[1]
		x.Bound, x.AtMost, x.Needed, x.Reason = ratio(-1, 3), 0.04, 7, record.InProse("because")
		s := only(t, Of(e)).Says
		reason := ""
		if verdict == record.Invalid {
			reason = "because"
		}
		if s.Word != want || s.Bound != 0.04 || s.Seconds != 7 || said.English(s.Reason) != reason || s.CPU != "" {
			t.Errorf("%v: %+v", verdict, s)
		}
		if x.Bound = nil; verdict == record.Undecided && only(t, Of(e)).Says.Reason != record.InProse("because") {
			t.Errorf("no reason: %+v", only(t, Of(e)).Says)
		}
	}
}

// An undecided answer has a next step.
func TestNext(t *testing.T) {
	e := run(record.Undecided, 0, 22)
	e.Workloads[0].Forecast = []record.Forecast{
		{Metric: "throughput", Half: 0.1, Seconds: 130}, {Metric: "throughput", Half: 0.05, Seconds: 520}, {Metric: "throughput", Half: 0.01, Seconds: 13000}, {Metric: "cpu_per_op", Half: 0.02, Seconds: 1}}
	a := Of(e)
	if a.Standing != record.AnsweredNone || len(a.Menu) != 3 || a.Menu[0] != (record.Offer{Half: 0.1, Seconds: 130}) {
		t.Errorf("%s, menu %+v", a.Standing, a.Menu)
	}
	want := []record.NextStep{{Kind: record.NextProvide, Remedy: record.InProse("apt install runc")}, {Kind: record.NextContinue}, {Kind: record.NextDedicated}}
	if !slices.Equal(a.Next, want) {
		t.Errorf("next %+v, want %+v", a.Next, want)
	}
	if a.Noise != (record.HostNoise{StealLow: 0.05, StealHigh: 0.2, Floor: 0.2}) || !a.Busy {
		t.Errorf("noise %+v, busy %v", a.Noise, a.Busy)
	}
}

// A continuation takes as long as the rows say that they need, to whole minutes; no time is named where one cannot say.
func TestNextAsRowsSay(t *testing.T) {
	for row, want := range map[float64]float64{15: 60, 61: 120, 5000: 5040, 0: 0} {
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

// withParts gives the subject's effect its parts, and CPU time per operation an effect of its own; in percent.
func withParts(e *record.Effects, verdict record.Verdict, perOp, cpu float64) *record.Effects {
	e.Effects[1].Parts = &record.Parts{CPU: *ratio(cpu, 1), PerOp: *ratio(perOp, 1)}
	e.Effects = append(e.Effects, record.Effect{Workload: "db", Metric: "cpu_per_op", Arm: "rootfs", Baseline: "host", Verdict: verdict, Typical: ratio(perOp, 1), Generations: 6})
	return e
}

// A cause of a loss is a part that is shown to differ, in the direction of the loss.
func TestCauses(t *testing.T) {
	for _, c := range []struct {
		verdict    record.Verdict
		perOp, cpu float64
		want       []record.Cause
	}{
		{record.MoreCPU, 11, 0, []record.Cause{record.CauseWork}}, {record.MoreCPU, 4, -6, []record.Cause{record.CauseWork, record.CauseCPU}},
		{record.NoDifference, 0, -10, []record.Cause{record.CauseCPU}}, {record.LessCPU, -3, -13, []record.Cause{record.CauseCPU}},
		{record.Undecided, 8, -0.5, nil}, {record.Undecided, 8, 3, nil}, {record.NoDifference, 0, 0.5, nil},
	} {
		e := withParts(run(record.Slower, -10, 2), c.verdict, c.perOp, c.cpu)
		if got := only(t, Of(e)).Says.Causes; !slices.Equal(got, c.want) {
			t.Errorf("%s %v %%, CPU %v %%: %q, want %q", c.verdict, c.perOp, c.cpu, got, c.want)
		}
	}
	for probe, c := range map[string]struct {
		host, arm float64
		want      record.Cause
	}{
		"cpu.throttled": {0, 0.3, record.CauseThrottle}, "pressure.io.some": {0, 0.3, record.CauseDisk}, "pressure.cpu.some": {0.6, 0.5, record.CauseWait},
	} {
		e := withParts(run(record.Slower, -10, 2), record.NoDifference, 0, -10)
		for _, arm := range []string{"rootfs", "cgroup"} {
			e.Kernel = []record.Kernel{{Workload: "db", Metric: probe, Unit: "s", Per: "second", Values: map[string]record.Value{"host": record.Number(c.host), arm: record.Number(c.arm)}}}
			if got := only(t, Of(e)).Says.Causes; slices.Contains(got, c.want) != (arm == "rootfs") {
				t.Errorf("%s of %s: %q", probe, arm, got)
			}
		}
	}
	e := withParts(run(record.Slower, -10, 2), record.NoDifference, 0, -10)
	for probe, x := range map[string]float64{"pressure.cpu.some": 0.5, "pressure.cpu.full": 0.9} {
		e.Kernel = append(e.Kernel, record.Kernel{Workload: "db", Metric: probe, Unit: "s", Per: "second", Values: map[string]record.Value{"host": record.Number(0.6), "rootfs": record.Number(x)}})
	}
	if got := only(t, Of(e)).Says.Causes; !slices.Equal(got, []record.Cause{record.CauseCPU}) {
		t.Errorf("all threads wait for a CPU at once: %q", got)
	}
}

// An arm that flushes a thousandth as often waits less for the disk, whatever its CPU time is.
func TestFlushes(t *testing.T) {
	for _, c := range []struct {
		verdict    record.Verdict
		host, arm  float64 // flushes per operation
		isTheCause bool
	}{{record.Faster, 0.89, 0.0017, true}, {record.Slower, 0.0017, 0.89, true}, {record.Faster, 0.89, 0.8, false}, {record.Faster, 0.0017, 0.89, false}, {record.Undecided, 0.89, 0.0017, false}} {
		e := withParts(run(c.verdict, 26, 8), record.LessCPU, -6, 18)
		e.Kernel = []record.Kernel{{Workload: "db", Metric: "disk.flushes", Unit: "1", Per: "operation", Values: map[string]record.Value{"host": record.Number(c.host), "rootfs": record.Number(c.arm)}}}
		if got := only(t, Of(e)).Says.Causes; slices.Contains(got, record.CauseDisk) != c.isTheCause {
			t.Errorf("%+v: %q", c, got)
		}
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
		e := withParts(run(record.Slower, -50, 2), record.NoDifference, 0, -50)
		e.Options = []record.Effect{{Workload: "db", Metric: "throughput", Arm: "rootfs", Baseline: "cgroup", Verdict: record.Slower, Typical: ratio(c.option, 2), NetworkAlone: c.alone}}
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

// Beside other work the CPU time that an arm received is the outcome of a competition, unless the arm's own limit held
// it back for longer than that work ran. The word is about throughput all the same.
func TestCompetition(t *testing.T) {
	for _, c := range []struct {
		seconds float64 // of two CPUs
		own     float64 // more in the arm: work of the kernel for it
		held    float64 // seconds per second in which the arm's own limit throttled it
		want    record.Cause
	}{
		{1.2, 0, 0, record.CauseOther}, {0.1, 0, 0, record.CauseCPU}, {0.1, 1.1, 0, record.CauseCPU},
		{1.2, 0, 1.1, record.CauseOther}, {1.2, 0, 1.3, record.CauseThrottle},
	} {
		e := withParts(run(record.Slower, -20, 2), record.Undecided, 2, -18)
		e.Kernel = []record.Kernel{{Workload: "db", Metric: "cpu.foreign", Unit: "s", Per: "second",
			Values: map[string]record.Value{"host": record.Number(c.seconds), "rootfs": record.Number(c.seconds + c.own)}},
			{Workload: "db", Metric: "cpu.throttled", Unit: "s", Per: "second", Values: map[string]record.Value{"rootfs": record.Number(c.held)}}}
		if s := only(t, Of(e)).Says; s.Word != record.SaysSlower || !slices.Contains(s.Causes, c.want) {
			t.Errorf("%+v: %+v", c, s)
		}
	}
}

// CPU time per operation has a verdict of its own, and never takes the place of throughput's.
func TestCPUBeside(t *testing.T) {
	for verdict, want := range map[record.Verdict]record.CPUWord{record.MoreCPU: record.SaysMoreCPU, record.LessCPU: record.SaysLessCPU, record.NoDifference: "", record.Undecided: ""} {
		a := Of(withParts(run(record.Undecided, 0, 5), verdict, 4, 0))
		if s := only(t, a).Says; s.Word != record.SaysUndecided || s.CPU != want || a.Standing != record.AnsweredNone {
			t.Errorf("%v: %+v", verdict, s)
		}
	}
}

// The arms on pods that could not be had are rows, with reason and remedy; those of other experiments are not.
func TestSkippedPods(t *testing.T) {
	e := run(record.Slower, -10, 2)
	e.Steps, e.Workloads[0].Baseline = nil, "host"
	e.Left = []record.Left{{Workload: "db", Arm: "slow", Reason: record.InProse("no StorageClass"), Remedy: record.InProse("name another")}, {Workload: "db", Arm: "slow", Reason: record.InProse("again")},
		{Workload: "db", Arm: "host", Reason: record.InProse("busy")}, {Workload: "other", Arm: "x", Reason: record.InProse("busy")}, {Workload: "db", Arm: "cgroup", Reason: record.InProse("ended")}}
	rows := func() (arms []string) {
		for _, r := range Of(e).Tables[0].Rows {
			arms = append(arms, r.Arm+" "+string(r.Says.Word)+" "+said.English(r.Says.Remedy))
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

// Without a container runtime the loads have layers of different heights, and each has its highest one as its question:
// they are one table all the same.
func TestLayersWithoutRuntime(t *testing.T) {
	e := &record.Effects{Host: record.Host{CPUs: 2}, Left: []record.Left{{Arm: "container", Reason: record.InProse("neither runc nor crun is installed"), Remedy: record.InProse("apt install runc")}}}
	for _, load := range []string{"oltp-read-only", "oltp-read-write", "commit", "rpc"} {
		layers := []string{"cgroup", "security"}
		if load == "rpc" {
			layers = append(layers, "nat")
		}
		below := "host"
		for _, layer := range layers {
			x := record.Effect{Workload: load, Metric: "throughput", Arm: layer, Baseline: "host", Verdict: record.Slower, Typical: ratio(-5, 1), Generations: 6}
			e.Effects = append(e.Effects, x)
			x.Baseline, below = below, layer
			e.Steps = append(e.Steps, x)
		}
		e.Workloads = append(e.Workloads, record.WorkloadResult{Name: load, Primary: "throughput", Baseline: "host", Question: below, Blocks: 9, Generations: 6, Seconds: 60})
	}
	a := Of(e)
	if len(a.Tables) != 1 || len(a.Tables[0].Rows) != 4 || a.Tables[0].Subject != "" || a.Tables[0].Rows[3].Arm != "nat" || len(a.Skipped) != 1 {
		t.Errorf("%+v, skipped %+v", a.Tables, a.Skipped)
	}
}
