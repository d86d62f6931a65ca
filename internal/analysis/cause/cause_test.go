package cause

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/analysis/answer"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/record"
)

// stand is an arm of a synthetic result with its true effect against the baseline.
type stand struct {
	record.Arm
	ratio     float64 // of the primary metric; the first arm is the baseline
	cpu, work float64 // parts; 0: none
	// wait, io, memory and throttled are seconds per second, hits are of the memory limit, per second.
	wait, io, memory, throttled, hits float64
}

// half is the half-width of all intervals, in logarithms.
const half = 0.02

func around(ratio float64) *record.Ratio {
	return &record.Ratio{Ratio: ratio, Low: ratio * math.Exp(-half), High: ratio * math.Exp(half), SE: half / 2, DF: 9}
}

// result makes the effects and the plan of one load.
func result(primary string, stands ...stand) (*record.Effects, record.Plan) {
	const rate = 1000.0
	base := stands[0].Name
	load := record.Workload{Name: "w", Primary: primary, Baseline: base}
	e := &record.Effects{Margin: 0.02, Workloads: []record.WorkloadResult{{
		Name: "w", Primary: primary, Baseline: base, Blocks: 50, Generations: 5, Seconds: 60, Windows: 100,
	}}}
	probes := map[string]*record.Kernel{}
	put := func(name, per string, arm string, x float64) {
		if probes[name] == nil {
			probes[name] = &record.Kernel{Workload: "w", Metric: name, Unit: "s", Per: per, Values: map[string]record.Value{}}
		}
		if probes[name].Values[arm] = record.Number(x); math.IsNaN(x) {
			probes[name].Values[arm] = record.Missing(record.InProse("no such counter"))
		}
	}
	for _, s := range stands {
		load.Arms = append(load.Arms, s.Arm)
		now := rate * s.ratio
		e.Arms = append(e.Arms, record.ArmResult{Workload: "w", Arm: s.Name, Windows: 50, Values: map[string]record.Value{"throughput": record.Number(now), "cpu_per_op": record.Number(0.001)}})
		put("cpu.wait", "operation", s.Name, s.wait/now)
		put("pressure.io.some", "second", s.Name, s.io)
		put("pressure.memory.some", "second", s.Name, s.memory)
		put("cpu.throttled", "second", s.Name, s.throttled)
		put("memory.limit_hits", "second", s.Name, s.hits)
		probes["memory.limit_hits"].Unit = "1"
		if s.Name == base {
			continue
		}
		verdict := record.NoDifference
		switch worse := primary != "throughput"; {
		case math.Abs(math.Log(s.ratio)) < 0.05:
		case (s.ratio < 1) != worse:
			verdict = record.Slower
		default:
			verdict = record.Faster
		}
		x := record.Effect{Workload: "w", Metric: primary, Arm: s.Name, Baseline: base, Typical: around(s.ratio), Total: around(s.ratio), Verdict: verdict, Generations: 5, Blocks: 50}
		if s.cpu > 0 {
			x.Parts = &record.Parts{CPU: *around(s.cpu), PerOp: *around(1 / s.work), Most: record.PartCPU}
		}
		e.Effects = append(e.Effects, x)
		if s.Step != "" {
			below := stands[slices.IndexFunc(stands, func(b stand) bool { return b.Name == s.Step })]
			step := x
			step.Baseline, step.Typical = s.Step, around(s.ratio/below.ratio)
			if step.Verdict = record.Undecided; s.ratio/below.ratio < 0.97 {
				step.Verdict = record.Slower
			}
			e.Steps = append(e.Steps, step)
		}
	}
	for _, name := range []string{"cpu.wait", "pressure.io.some", "pressure.memory.some", "cpu.throttled", "memory.limit_hits"} {
		e.Kernel = append(e.Kernel, *probes[name])
	}
	e.Answer = answer.Of(e)
	return e, record.Plan{Workloads: []record.Workload{load}}
}

func arm(name, environment string) record.Arm {
	return record.Arm{Name: name, Environment: environment}
}

func with(a record.Arm, change func(*record.Arm)) record.Arm {
	change(&a)
	return a
}

func beside(name string) record.Arm {
	return with(arm(name, "cgroup"), func(a *record.Arm) { a.Neighbour = "hogs" })
}

// want is a cause with the share that was planted.
type want struct {
	cause record.LossCause
	share float64 // 0: none is measured
}

// The causes of planted losses are found, with the shares that were planted; without one where the only difference of
// the arms is the cause, which no measurement tells.
func TestCauses(t *testing.T) {
	alone := stand{Arm: arm("alone", "cgroup"), ratio: 1, wait: 0.01}
	hosts := stand{Arm: arm("host", "host"), ratio: 1}
	for _, c := range []struct {
		name    string
		primary string
		stands  []stand
		want    []want
	}{
		{"a hog", "throughput", []stand{alone, {Arm: beside("none"), ratio: 0.3, cpu: 0.32, work: 0.94, wait: 3}},
			[]want{{record.LossNeighbourCPU, math.Log(0.32) / math.Log(0.3)}}},
		{"a hog, and less CPU per operation", "throughput", []stand{alone, {Arm: beside("none"), ratio: 0.7, cpu: 0.54, work: 1.27, wait: 1.5}},
			[]want{{record.LossNeighbourCPU, 0}}},
		{"a hog that spoils caches", "throughput", []stand{alone, {Arm: beside("none"), ratio: 0.4, cpu: 0.5, work: 0.8, wait: 3}},
			[]want{{record.LossNeighbourCPU, math.Log(0.5) / math.Log(0.4)}, {record.LossNeighbourCaches, math.Log(0.8) / math.Log(0.4)}}},
		{"a neighbour that syncs", "throughput", []stand{alone, {Arm: beside("none"), ratio: 0.3, cpu: 0.31, work: 0.97, io: 0.6}}, []want{{record.LossNeighbourDisk, math.Log(0.31) / math.Log(0.3)}}},
		{"a neighbour in memory", "throughput", []stand{alone, {Arm: beside("none"), ratio: 0.5, memory: 0.3}}, []want{{record.LossNeighbourMemory, 0}}},
		{"a neighbour, of a time", "time", []stand{alone, {Arm: beside("none"), ratio: 1.5, wait: 2}}, []want{{record.LossNeighbourCPU, 0}}},
		{"a quota", "throughput", []stand{alone, {Arm: with(arm("limited", "cgroup"), func(a *record.Arm) { a.CPUs = 1.5 }), ratio: 0.7, throttled: 0.8}}, []want{{record.LossCPULimit, 0}}},
		{"a memory limit", "throughput", []stand{alone, {Arm: with(arm("small", "cgroup"), func(a *record.Arm) { a.MemoryBytes = 64 << 20 }), ratio: 0.7, hits: 100}}, []want{{record.LossMemoryLimit, 0}}},
		{"a port", "throughput", []stand{
			{Arm: with(arm("a", "container"), func(a *record.Arm) { a.Network = "bridge" }), ratio: 1},
			{Arm: with(arm("b", "container"), func(a *record.Arm) { a.Network = "published" }), ratio: 0.7},
		}, []want{{record.LossNAT, 0}}},
		{"a hog, and limits that hold nothing back", "throughput", []stand{alone, {Arm: with(beside("none"), func(a *record.Arm) { a.CPUs, a.MemoryBytes = 1.5, 4<<30 }), ratio: 0.3, cpu: 0.32, work: 0.94, wait: 3}},
			[]want{{record.LossNeighbourCPU, math.Log(0.32) / math.Log(0.3)}}},
		{"a memory limit, and a CPU limit that holds nothing back", "throughput", []stand{alone, {Arm: with(arm("small", "cgroup"), func(a *record.Arm) { a.CPUs, a.MemoryBytes = 1.5, 64<<20 }), ratio: 0.7, hits: 100, throttled: 0.02}},
			[]want{{record.LossMemoryLimit, 0}}},
		{"a burst that is less", "throughput", []stand{alone, {Arm: with(arm("l", "cgroup"), func(a *record.Arm) { a.Burst = 0.1 }), ratio: 0.7, throttled: 0.8}}, []want{{record.LossCPULimit, 0}}},
		{"a volume", "throughput", []stand{alone, {Arm: with(arm("nfs", "cgroup"), func(a *record.Arm) { a.Volume = "nfs:a:/b" }), ratio: 0.5, io: 0.5}}, []want{{record.LossVolume, 0}}},
		{"a buffer pool", "throughput", []stand{alone, {Arm: with(arm("small", "cgroup"), func(a *record.Arm) { a.Set = map[string]string{"buffer_pool": "5M"} }), ratio: 0.5}}, []want{{record.LossServer, 0}}},
		{"a pod that is throttled", "throughput", []stand{hosts, {Arm: with(arm("pod", "burstable:cpu-limit=1"), func(a *record.Arm) { a.Pod = true }), ratio: 0.5, cpu: 0.55, work: 0.91, throttled: 0.4}},
			[]want{{record.LossCPULimit, math.Log(0.55) / math.Log(0.5)}, {record.LossPod, math.Log(0.91) / math.Log(0.5)}}},
		{"a ladder", "throughput", []stand{
			hosts, {Arm: arm("cgroup", "cgroup"), ratio: 0.995}, {Arm: arm("rootfs", "rootfs"), ratio: 0.99}, {Arm: arm("security", "security"), ratio: 0.8},
			{Arm: arm("nat", "nat"), ratio: 0.6},
		}, []want{{record.LossNAT, math.Log(0.75) / math.Log(0.6)}, {record.LossSeccomp, math.Log(0.8/0.99) / math.Log(0.6)}}},
		{"two things, one of which is an arm of its own", "throughput", []stand{
			alone, {Arm: with(arm("limited", "cgroup"), func(a *record.Arm) { a.CPUs = 1.5 }), ratio: 0.8, throttled: 0.8},
			{Arm: with(arm("both", "cgroup"), func(a *record.Arm) { a.CPUs, a.Volume = 1.5, "loop:xfs" }), ratio: 0.5, throttled: 0.8},
		}, []want{{record.LossVolume, 1 - math.Log(0.8)/math.Log(0.5)}, {record.LossCPULimit, math.Log(0.8) / math.Log(0.5)}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			stands := c.stands
			if c.name == "a ladder" {
				for i := range stands[1:] {
					stands[i+1].Step = stands[i].Name
				}
			}
			losses, _ := Of(result(c.primary, stands...))
			if len(losses) != 1 || losses[0].Arm != stands[len(stands)-1].Name {
				t.Fatalf("losses %+v", losses)
			}
			got := slices.DeleteFunc(slices.Clone(losses[0].Causes), func(c record.CauseShare) bool { return c.By == record.ByRest && len(c.Causes) > 1 })
			if len(got) != len(c.want) {
				t.Fatalf("causes %+v, want %+v", got, c.want)
			}
			for i, w := range c.want {
				g := got[i]
				if len(g.Causes) != 1 || g.Causes[0] != w.cause || (g.Share == nil) != (w.share == 0) || g.Share != nil && (math.Abs(g.Share.Share-w.share) > 0.03 || g.Share.Low > w.share || g.Share.High < w.share) {
					t.Errorf("%+v %+v, want %+v", g, g.Share, w)
				}
			}
			if _, err := json.Marshal(losses); err != nil {
				t.Error(err)
			}
		})
	}
}

// Causes that the record does not separate stand together, with the arms that would separate them.
func TestCausesTogether(t *testing.T) {
	alone := stand{Arm: arm("alone", "cgroup"), ratio: 1}
	for name, c := range map[string]struct {
		lost  stand
		tells string
		all   []record.LossCause
	}{
		"two pressures": {stand{Arm: beside("none"), ratio: 0.4, wait: 2, io: 0.4}, "cpu.idle, io.max", []record.LossCause{record.LossNeighbourCPU, record.LossNeighbourDisk}},
		"two limits": {stand{Arm: with(arm("l", "cgroup"), func(a *record.Arm) { a.CPUs, a.MemoryBytes = 1, 1<<28 }), ratio: 0.4, throttled: 0.5, hits: 9}, "cpus, memory",
			[]record.LossCause{record.LossCPULimit, record.LossMemoryLimit}},
		"a container": {stand{Arm: arm("docker", "docker"), ratio: 0.8}, "layers below docker",
			[]record.LossCause{record.LossGroups, record.LossNamespaces, record.LossOverlay, record.LossSeccomp, record.LossVeth, record.LossNAT, record.LossRuntime}},
	} {
		losses, _ := Of(result("throughput", alone, c.lost))
		if len(losses) != 1 || len(losses[0].Causes) != 1 {
			t.Fatalf("%s: %+v", name, losses)
		}
		if got := losses[0].Causes[0]; !slices.Equal(got.Causes, c.all) && name != "a container" || !strings.Contains(said.English(got.Tells), c.tells) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// What does not lose has no cause: a gain, no difference, an arm that is protected already, another load's
// undecided row.
func TestNoLoss(t *testing.T) {
	alone := stand{Arm: arm("alone", "cgroup"), ratio: 1}
	protected := with(beside("idle"), func(a *record.Arm) { a.Isolation = []string{"cpu.idle"} })
	for name, s := range map[string]stand{
		"a gain": {Arm: beside("none"), ratio: 1.4}, "no difference": {Arm: beside("none"), ratio: 0.999}, "protected": {Arm: protected, ratio: 0.7},
	} {
		losses, kept := Of(result("throughput", alone, s))
		if len(losses) > 0 || len(kept) != 1 && name != "protected" {
			t.Errorf("%s: losses %+v, kept %+v", name, losses, kept)
		}
	}
	if losses, kept := Of(&record.Effects{}, record.Plan{}); len(losses)+len(kept) > 0 {
		t.Errorf("nothing: %+v, %+v", losses, kept)
	}
}

// A share of a loss that is barely shown has a wide interval, and of one that is not none.
func TestShareIsFiellers(t *testing.T) {
	l := &loss{effect: record.Effect{Typical: &record.Ratio{Ratio: math.Exp(-0.10), Low: math.Exp(-0.19), High: math.Exp(-0.01)}}}
	part := record.Ratio{Ratio: math.Exp(-0.05), Low: math.Exp(-0.06), High: math.Exp(-0.04)}
	s := l.share(part)
	if s == nil || math.Abs(s.Share-0.5) > 1e-9 || s.Low > 0.27 || s.High < 3 {
		t.Errorf("%+v", s)
	}
	l.effect.Typical.High = math.Exp(0.02)
	if s := l.share(part); s != nil {
		t.Errorf("a share of a loss that is not shown: %+v", s)
	}
}

// Causes that stand together are told apart by remedies for one of them alone.
func TestSeparated(t *testing.T) {
	lost := record.Ratio{Ratio: 0.25, Low: 0.24, High: 0.26}
	tried := func(name string, gained float64, word record.AnswerWord, causes ...record.LossCause) record.Candidate {
		return record.Candidate{Remedies: []string{name}, For: causes, Result: &record.RemedyResult{Gained: around(gained), Answer: record.Says{Word: word}}}
	}
	together := record.CauseShare{Causes: besideCauses()[:3], By: record.ByDesign, Tells: record.InProse("arms")}
	l := record.AdviceLoss{Lost: lost, Causes: []record.CauseShare{together}, Candidates: []record.Candidate{
		tried("quota", 1.5, record.SaysFaster, record.LossNeighbourCPU), tried("idle", 2, record.SaysFaster, record.LossNeighbourCPU, record.LossNeighbourCaches),
		tried("io", 1.4, record.SaysUndecided, record.LossNeighbourDisk), {Remedies: []string{"qos"}, For: []record.LossCause{record.LossNeighbourCPU}},
	}}
	got := Separated(l)
	if len(got) != 2 || got[0].By != record.ByRemedy || got[0].Causes[0] != record.LossNeighbourCPU || math.Abs(got[0].Share.Share-0.5) > 0.01 {
		t.Fatalf("%+v", got)
	}
	if r := got[1]; !slices.Equal(r.Causes, besideCauses()[1:3]) || math.Abs(r.Share.Share-0.5) > 0.01 || r.Share.Low > 0.5 || r.Share.High < 0.5 {
		t.Errorf("the rest is %+v %+v", r, r.Share)
	}
	caches := l
	caches.Causes = []record.CauseShare{together, {Causes: []record.LossCause{record.LossNeighbourCaches}, By: record.ByParts}}
	caches.Candidates = []record.Candidate{tried("idle", 2, record.SaysFaster, record.LossNeighbourCPU, record.LossNeighbourCaches)}
	if got := Separated(caches); len(got) != 2 || len(got[0].Causes) != 3 {
		t.Errorf("a remedy for two causes tells one apart: %+v", got)
	}
	caches.Candidates = []record.Candidate{tried("faster than alone", 9, record.SaysFaster, record.LossNeighbourCPU)}
	if got := Separated(caches); *got[0].Share != (record.Share{Share: 1, Low: 1, High: 1}) {
		t.Errorf("more than the loss: %+v", got[0].Share)
	}
	l.Candidates = l.Candidates[2:]
	off := tried("no limit", 1, record.SaysNoDifference, record.LossNeighbourMemory)
	off.Apply = []record.RemedySetting{{On: record.OnLoad, Key: record.KeyMemoryMax}}
	more := l
	more.Candidates = append(slices.Clone(l.Candidates), off)
	if got := Separated(more); len(got) != 1 || !slices.Equal(got[0].Causes, besideCauses()[:2]) {
		t.Errorf("what was removed without help is a cause: %+v", got)
	}
	more.Candidates[len(more.Candidates)-1].Apply[0].Value = "2"
	if got := Separated(more); len(got) != 1 || len(got[0].Causes) != 3 {
		t.Errorf("what was only changed is no cause: %+v", got)
	}
	if got := Separated(l); len(got) != 1 || got[0].By != record.ByDesign {
		t.Errorf("nothing helped: %+v", got)
	}
}

// A loss of throughput beside other work on the host is a loss, whatever the arms differ in.
func TestLossBesideOtherWork(t *testing.T) {
	alone := stand{Arm: arm("alone", "cgroup"), ratio: 1}
	for name, s := range map[string]struct{ stand }{
		"a neighbour": {stand{Arm: beside("none"), ratio: 0.4, cpu: 0.4, work: 1}},
		"a limit":     {stand{Arm: with(arm("l", "cgroup"), func(a *record.Arm) { a.CPUs = 0.5 }), ratio: 0.4, cpu: 0.4, work: 1}},
		"a layer":     {stand{Arm: arm("rootfs", "rootfs"), ratio: 0.4, cpu: 0.4, work: 1}},
	} {
		e, p := result("throughput", alone, s.stand)
		e.Host.CPUs = 2
		e.Kernel = append(e.Kernel, record.Kernel{Workload: "w", Metric: "cpu.foreign", Unit: "s", Per: "second", Values: map[string]record.Value{"alone": record.Number(1)}})
		work := e.Effects[0]
		work.Metric, work.Typical, work.Verdict, work.Parts = "cpu_per_op", around(1), record.NoDifference, nil
		e.Effects = append(e.Effects, work)
		e.Answer = answer.Of(e)
		losses, kept := Of(e, p)
		if len(losses) != 1 || len(kept) != 0 {
			t.Errorf("%s: losses %+v, others %+v", name, losses, kept)
		}
	}
}

// What a network has beyond another one is what an arm can lose by it.
func TestNetworkCauses(t *testing.T) {
	veth, nat := record.LossVeth, record.LossNAT
	for _, c := range []struct {
		arm, base string
		want      []record.LossCause
	}{
		{"bridge", "host", []record.LossCause{veth}}, {"published", "bridge", []record.LossCause{nat}}, {"published", "host", []record.LossCause{veth, nat}},
		{"engine", "host", []record.LossCause{veth, nat}}, {"engine", "bridge", []record.LossCause{nat}}, {"", "host", []record.LossCause{veth, nat}},
		{"host", "bridge", []record.LossCause{veth}}, {"engine", "published", []record.LossCause{veth, nat}},
	} {
		if got := networkCauses(c.arm, c.base); !slices.Equal(got, c.want) {
			t.Errorf("%q against %q: %v, want %v", c.arm, c.base, got, c.want)
		}
	}
}

// Every factor of an arm has a cause.
func TestEveryFactorHasACause(t *testing.T) {
	for _, f := range (record.Arm{}).Chosen() {
		if f.Name != byEnvironment && f.Name != byNetwork && causesOf[f.Name] == "" {
			t.Errorf("%s has none", f.Name)
		}
	}
}

// A load that waits for its disk all the time waits longer for each operation beside a neighbour that syncs.
func TestWaitsPerOperation(t *testing.T) {
	alone := stand{Arm: arm("alone", "cgroup"), ratio: 1, io: 0.95, wait: 0.02}
	losses, _ := Of(result("throughput", alone, stand{Arm: beside("none"), ratio: 0.4, io: 0.97, wait: 0.02}))
	if len(losses) != 1 || len(losses[0].Causes) != 1 || !slices.Equal(losses[0].Causes[0].Causes, []record.LossCause{record.LossNeighbourDisk}) {
		t.Fatalf("%+v", losses)
	}
	if e := losses[0].Causes[0].Evidence; len(e) != 1 || e[0].Per != "operation" || math.Abs(e[0].Arm-0.97/400) > 1e-9 || math.Abs(e[0].Against-0.95/1000) > 1e-9 {
		t.Errorf("%+v", e)
	}
}
