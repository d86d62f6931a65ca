package cause

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tarelab/tare/internal/analysis/answer"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/record"
)

// counted is a level of a counter: none, little, much, or not known.
func counted(t *rapid.T, name string) float64 {
	return rapid.SampledFrom([]float64{0, 0.001, 0.6, 3, math.NaN()}).Draw(t, name)
}

// Whatever the counters say: a limit whose counter is 0 is no cause; of what a neighbour takes only what grew, what is
// not known and more CPU per operation are causes; and no cause has a share that is its definition. A loss without a
// cause says what the counters exclude.
func TestCountersDecide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		own := arm("b", rapid.SampledFrom([]string{"cgroup", "cpu-limit"}).Draw(t, "environment"))
		own.CPUs = rapid.SampledFrom([]float64{0, 1}).Draw(t, "cpus")
		own.Burst = rapid.SampledFrom([]float64{0, 1}).Draw(t, "burst")
		own.MemoryBytes = rapid.SampledFrom([]int64{0, 1 << 26}).Draw(t, "memory")
		own.Weight = rapid.SampledFrom([]int{0, 2}).Draw(t, "weight")
		own.CPUSet = rapid.SampledFrom([]string{"", "1"}).Draw(t, "cpuset")
		own.Neighbour = rapid.SampledFrom([]string{"", "hogs"}).Draw(t, "neighbour")
		if rapid.Bool().Draw(t, "set") {
			own.Set = map[string]string{"work": "2"}
		}
		b := stand{Arm: own, ratio: 0.5, wait: counted(t, "wait"), io: counted(t, "io"), memory: counted(t, "memory.pressure"), throttled: counted(t, "throttled"), hits: counted(t, "hits")}
		if rapid.Bool().Draw(t, "parts") {
			b.cpu = rapid.SampledFrom([]float64{0.5, 0.7, 0.99}).Draw(t, "cpu")
			b.work = 0.5 / b.cpu
		}
		losses, _ := Of(result("throughput", stand{Arm: arm("a", "cgroup"), ratio: 1}, b))
		if len(losses) != 1 {
			t.Fatalf("%d losses", len(losses))
		}
		l := losses[0]
		zero := map[record.LossCause]bool{
			record.LossCPULimit: b.throttled == 0, record.LossMemoryLimit: b.hits == 0, record.LossOtherWork: b.wait == 0,
			record.LossNeighbourCPU: b.wait == 0, record.LossNeighbourDisk: b.io < 0.01, record.LossNeighbourMemory: b.memory < 0.01,
		}
		for _, c := range l.Causes {
			if len(c.Causes) == 0 || len(c.Causes) == 1 && c.Share != nil && c.Share.Low == c.Share.High {
				t.Fatalf("%+v %+v", c, c.Share)
			}
			for _, x := range c.Causes {
				if zero[x] {
					t.Fatalf("%s is a cause, and its counter did not rise: %+v, differs %v", x, b, l.Differs)
				}
			}
		}
		for _, x := range l.Excluded {
			if !zero[x.Cause] && !(x.Evidence.Unit == "s" && x.Evidence.Arm < 0.01) {
				t.Fatalf("%+v is excluded, and rose: %+v", x, b)
			}
		}
		if len(l.Causes) == 0 && len(l.Excluded) == 0 && len(l.Differs) > 0 && b.cpu == 0 {
			t.Fatalf("no cause and nothing excluded: %+v, differs %v", b, l.Differs)
		}
	})
}

// Losses that tare advise had explained wrongly.
func TestCausesOfPlants(t *testing.T) {
	base := stand{Arm: arm("a", "cgroup"), ratio: 1, wait: 0.02}
	limited := with(arm("b", "cgroup"), func(a *record.Arm) { a.MemoryBytes = 4 << 30 })
	t.Run("a disk throttled from outside, beside a memory limit that holds nothing", func(t *testing.T) {
		l := only(t, base, stand{Arm: limited, ratio: 0.5, io: 0.9, wait: 0.02})
		if len(l.Causes) > 0 || len(l.Excluded) != 1 || l.Excluded[0].Cause != record.LossMemoryLimit || len(l.Grown) != 1 || l.Grown[0].Metric != "pressure.io.some" {
			t.Errorf("%+v", l)
		}
	})
	t.Run("hogs where all CPUs are waited for already", func(t *testing.T) {
		always := stand{Arm: arm("a", "cgroup"), ratio: 1, wait: 0.94}
		l := only(t, always, stand{Arm: beside("b"), ratio: 0.79, cpu: 0.85, work: 0.93, wait: 0.895 * 0.79})
		if len(l.Causes) == 0 || !slices.Equal(l.Causes[0].Causes, []record.LossCause{record.LossNeighbourCPU}) || l.Causes[0].Evidence[0].Metric != "cpu.time" {
			t.Errorf("%+v", l.Causes)
		}
	})
	t.Run("a neighbour, and nothing that a neighbour takes", func(t *testing.T) {
		if l := only(t, base, stand{Arm: beside("b"), ratio: 0.5, wait: 0.02}); len(l.Causes) > 0 || len(l.Excluded) != 3 {
			t.Errorf("%+v", l)
		}
	})
	t.Run("a neighbour, on a kernel without pressures", func(t *testing.T) {
		l := only(t, base, stand{Arm: beside("b"), ratio: 0.5, wait: 0.02, io: math.NaN(), memory: math.NaN()})
		if len(l.Causes) != 1 || !slices.Equal(l.Causes[0].Causes, besideCauses()[1:3]) || said.English(l.Causes[0].Tells) != "arms with io.max, memory.high" {
			t.Errorf("%+v", l.Causes)
		}
	})
	t.Run("settings of the server are named", func(t *testing.T) {
		logged := with(arm("b", "cgroup"), func(a *record.Arm) { a.Set = map[string]string{"binlog": "on", "sync_binlog": "1"} })
		l := only(t, changed2(base, func(a *record.Arm) { a.Set = map[string]string{"doublewrite": "off"} }), stand{Arm: logged, ratio: 0.55, wait: 0.02})
		if !slices.Equal(l.Differs, []string{"binlog=on", "doublewrite=default", "sync_binlog=1"}) || len(l.Causes) != 1 || l.Causes[0].Causes[0] != record.LossServer {
			t.Errorf("%v, %+v", l.Differs, l.Causes)
		}
	})
	t.Run("fewer CPUs", func(t *testing.T) {
		l := only(t, base, stand{Arm: with(arm("b", "cgroup"), func(a *record.Arm) { a.CPUSet, a.MemoryBytes = "1", 4<<30 }), ratio: 0.5, wait: 2})
		if !slices.Equal(l.Differs, []string{"memory=4294967296", "cpuset=1"}) || len(l.Causes) != 1 || l.Causes[0].Causes[0] != record.LossCPUSet {
			t.Errorf("%v, %+v", l.Differs, l.Causes)
		}
	})
	t.Run("moments of throttling explain a latency", func(t *testing.T) {
		losses, _ := Of(result("p99", base, stand{Arm: with(arm("b", "cgroup"), func(a *record.Arm) { a.CPUs = 0.6 }), ratio: 5.5, throttled: 0.05}))
		if len(losses) != 1 || len(losses[0].Causes) != 1 || losses[0].Causes[0].Causes[0] != record.LossCPULimit {
			t.Errorf("%+v", losses)
		}
	})
}

func changed2(s stand, change func(*record.Arm)) stand {
	change(&s.Arm)
	return s
}

// only is the one loss of two arms.
func only(t *testing.T, a, b stand) record.AdviceLoss {
	t.Helper()
	losses, _ := Of(result("throughput", a, b))
	if len(losses) != 1 {
		t.Fatalf("%+v", losses)
	}
	return losses[0]
}

// Parts whose shares are not shown are no causes of their own: they stand together, and a longer run tells them apart.
func TestUnshownParts(t *testing.T) {
	e, p := result("throughput", stand{Arm: arm("a", "cgroup"), ratio: 1}, stand{Arm: beside("b"), ratio: 0.79, cpu: 0.85, work: 0.93, wait: 2})
	wide := func(ratio, half float64) record.Ratio {
		return record.Ratio{Ratio: ratio, Low: ratio * math.Exp(-half), High: ratio * math.Exp(half)}
	}
	e.Effects[0].Parts.PerOp = wide(1/0.93, 0.1)
	for half, want := range map[float64][]record.LossCause{0.02: {record.LossNeighbourCPU}, 0.3: {record.LossNeighbourCPU, record.LossNeighbourCaches}} {
		e.Effects[0].Parts.CPU = wide(0.85, half)
		losses, _ := Of(e, p)
		if c := losses[0].Causes; len(c) != 1 || !slices.Equal(c[0].Causes, want) || (!c[0].Tells.IsZero()) != (len(want) > 1) {
			t.Errorf("half-width %v: %+v", half, c)
		}
	}
}

// An arm that is tried, or that this host cannot have, is not what would tell causes apart.
func TestTellsWhatIsLeft(t *testing.T) {
	l := record.AdviceLoss{Lost: *around(0.5), Causes: []record.CauseShare{{Causes: besideCauses()[:3], By: record.ByDesign, Tells: mechanisms(besideCauses()[:3], nil)}}}
	add := func(remedy string, result *record.RemedyResult, skipped *record.Left) {
		l.Candidates = append(l.Candidates, record.Candidate{Remedies: []string{remedy}, For: []record.LossCause{record.LossNeighbourCPU}, Result: result, Skipped: skipped})
	}
	for _, step := range []struct{ remedy, want string }{
		{"", "arms with cpu.idle, io.max, memory.high"}, {"cpu-idle", "arms with io.max, memory.high"}, {"memory-high", "arms with io.max"}, {"io-max", said.English(moreTime)},
	} {
		switch step.remedy {
		case "":
		case "memory-high":
			add(step.remedy, nil, &record.Left{Reason: record.InProse("version 1 has no memory.high")})
		default:
			add(step.remedy, &record.RemedyResult{Answer: record.Says{Word: record.SaysUndecided}}, nil)
		}
		if got := Separated(l); len(got) != 1 || said.English(got[0].Tells) != step.want {
			t.Errorf("after %q: %+v, want %q", step.remedy, got, step.want)
		}
	}
}

// The only difference of the arms has a share when a remedy that takes it away is measured, and is no cause when that
// remedy helps nothing.
func TestOnlyDifferenceIsTried(t *testing.T) {
	limit := record.CauseShare{Causes: []record.LossCause{record.LossMemoryLimit}, By: record.ByDesign}
	tried := record.Candidate{Remedies: []string{"no-memory-limit"}, For: limit.Causes, Apply: []record.RemedySetting{{On: record.OnLoad, Key: record.KeyMemoryMax}},
		Result: &record.RemedyResult{Stage: "2-candidates", Gained: around(1.9), Regained: &record.Share{Share: 0.95, Low: 0.9, High: 1}, Answer: record.Says{Word: record.SaysFaster}}}
	l := record.AdviceLoss{Lost: *around(0.5), Causes: []record.CauseShare{limit}, Candidates: []record.Candidate{tried}}
	if got := Separated(l); len(got) != 1 || got[0].Share == nil || got[0].Share.Share != 0.95 || got[0].Stage != "2-candidates" || got[0].By != record.ByRemedy {
		t.Errorf("%+v", got)
	}
	l.Candidates[0].Result.Answer.Word = record.SaysNoDifference
	if got := Separated(l); len(got) != 0 {
		t.Errorf("taken away without help: %+v", got)
	}
	l.Candidates[0].Result.Answer.Word = record.SaysUndecided
	if got := Separated(l); len(got) != 1 || got[0].Share != nil {
		t.Errorf("undecided: %+v", got)
	}
}

// What is said of an arm that is not shown to lose is what its row says: one record has one answer and one time.
func TestNoLossSaysWhatTheRowSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := stand{Arm: beside("b"), ratio: rapid.SampledFrom([]float64{0.4, 0.999, 1.4}).Draw(t, "ratio"), cpu: 0.9, work: 1}
		if rapid.Bool().Draw(t, "layer") {
			b.Arm = arm("b", "rootfs")
		}
		e, p := result("throughput", stand{Arm: arm("a", "cgroup"), ratio: 1}, b)
		e.Host.CPUs = 2
		if rapid.Bool().Draw(t, "other work") {
			e.Kernel = append(e.Kernel, record.Kernel{Workload: "w", Metric: "cpu.foreign", Unit: "s", Per: "second", Values: map[string]record.Value{"a": record.Number(1)}})
			work := e.Effects[0]
			work.Metric, work.Typical, work.Parts = "cpu_per_op", around(1), nil
			work.Verdict = rapid.SampledFrom([]record.Verdict{record.NoDifference, record.NoLoss, record.Undecided}).Draw(t, "work")
			e.Effects = append(e.Effects, work)
		}
		e.Effects[0].Verdict = rapid.SampledFrom([]record.Verdict{record.Slower, record.Faster, record.NoDifference, record.NoLoss, record.Undecided, record.Invalid}).Draw(t, "verdict")
		e.Effects[0].Needed = 4500
		e.Answer = answer.Of(e)
		losses, kept := Of(e, p)
		if len(losses)+len(kept) != 1 {
			t.Fatalf("%+v, %+v", losses, kept)
		}
		if says := e.Answer.Tables[0].Rows[0].Says; len(kept) == 1 && !reflect.DeepEqual(kept[0].Answer, says) {
			t.Fatalf("%+v, and its row %+v", kept[0].Answer, says)
		}
	})
}

// More time may show a loss where an arm is undecided, and where a twin differs from its baseline.
func TestOpen(t *testing.T) {
	for name, c := range map[string]struct {
		verdict record.Verdict
		twin    record.Verdict
		layer   bool
		want    bool
	}{
		"undecided": {record.Undecided, record.NoDifference, false, true}, "no loss": {record.NoLoss, record.NoDifference, false, false},
		"a twin that differs": {record.Invalid, record.Faster, false, true}, "invalid by itself": {record.Invalid, record.NoDifference, false, false},
		"undecided, no contest": {record.Undecided, record.NoDifference, true, true},
	} {
		b := stand{Arm: beside("b"), ratio: 0.999}
		if c.layer {
			b.Arm = arm("b", "rootfs")
		}
		e, p := result("throughput", stand{Arm: arm("a", "cgroup"), ratio: 1}, b)
		e.Effects[0].Verdict, e.Effects[0].Reason = c.verdict, record.InProse("the reason")
		e.Twin = []record.Effect{{Workload: "w", Metric: "throughput", Arm: "twin", Baseline: "a", Typical: around(1.13), Verdict: c.twin, Generations: 5, Blocks: 50}}
		e.Answer = answer.Of(e)
		losses, kept := Of(e, p)
		if got := Open(e, p); got != c.want || len(losses) > 0 {
			t.Errorf("%s: %v, losses %+v", name, got, losses)
		}
		if c.twin == record.Faster && (len(kept) != 1 || kept[0].Answer.Word != record.SaysInvalid || kept[0].Answer.Reason.IsZero()) {
			t.Errorf("%s: %+v", name, kept)
		}
	}
}
