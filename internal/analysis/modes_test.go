package analysis

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/analysis/observe"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/record"
)

// moody gives one arm of a world two modes of this ratio, which last for some blocks. In the
// slower one the arm waits for a CPU.
func moody(r *record.Result, arm string, ratio float64, blocks int) {
	rng := rand.New(rand.NewPCG(5, 5))
	for i, l := range r.Lines {
		if l.Block == nil {
			continue
		}
		for j := range l.Block.Windows {
			w := &r.Lines[i].Block.Windows[j]
			wait := 0.1
			if w.Arm == arm && l.Block.Number/blocks%2 == 1 {
				w.Ops, w.First = uint64(float64(w.Ops)*ratio), uint64(float64(w.First)*ratio)
				wait = 1.2
				cpu, _ := w.Probes[cpuMetric].Get()
				w.Probes[cpuMetric] = record.Number(cpu * ratio)
			}
			w.Probes[observe.Waiting] = record.Number(w.Seconds * wait * math.Exp(0.1*rng.NormFloat64()))
			w.Probes[observe.Throttled] = record.Number(0)
			w.Probes[observe.Stolen] = record.Number(0.01 * rng.Float64())
		}
	}
}

func modesIn(t *testing.T, r *record.Result) map[string]record.ArmModes {
	t.Helper()
	e, err := analyseWith(r, 0)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]record.ArmModes{}
	for _, m := range e.Modes {
		all[m.Arm] = m
	}
	return all
}

// TestModes: the arm with two modes is found, with what differs, and no other.
func TestModes(t *testing.T) {
	r := world{seed: 3, generations: 4, blocks: 15, windowSD: 0.03, sharedSD: 0.3, launchSD: 0.007, light: true}.result()
	moody(r, "rootfs", 0.5, 3)
	all := modesIn(t, r)
	if len(all) != len(armNames) {
		t.Fatalf("%d arms, want %d", len(all), len(armNames))
	}
	for name, m := range all {
		if (m.Modes != nil) != (name == "rootfs") || m.Windows != 60 {
			t.Errorf("%s: %+v", name, m)
		}
		if name != "rootfs" && !(m.Detectable > 0.1 && m.Detectable < 0.4) {
			t.Errorf("%s: %.3f would have shown", name, m.Detectable)
		}
	}
	m := all["rootfs"]
	if m.Modes == nil {
		t.Fatal("not found")
	}
	if m.Apart < 0.47 || m.Apart > 0.53 || m.Modes.Share < 0.5 || m.Modes.Share > 0.7 || m.Modes.Switches != 16 {
		t.Errorf("%+v, %+v", m, m.Modes)
	}
	if len(m.Differ) != 1 || m.Differ[0].Metric != observe.Waiting || !strings.Contains(said.English(m.Differ[0].Text), "waited 1.16 s a second") {
		t.Errorf("%+v", m.Differ)
	}
}

// TestModesOfFewerCPUs: modes that differ in CPU time and no other probe.
func TestModesOfFewerCPUs(t *testing.T) {
	r := world{seed: 3, generations: 4, blocks: 15, windowSD: 0.03, sharedSD: 0.3, launchSD: 0.007, light: true}.result()
	moody(r, "rootfs", 0.5, 3)
	for _, l := range r.Lines {
		if l.Block == nil {
			continue
		}
		for i := range l.Block.Windows {
			w := &l.Block.Windows[i]
			x, _ := w.Probes[observe.Waiting].Get()
			used := w.Seconds * (1 + 0.01*math.Sin(float64(l.Block.Number)))
			if w.Arm != "rootfs" || x/w.Seconds < 0.5 {
				used *= 1.97
			}
			w.Probes[cpuMetric] = record.Number(used)
			w.Probes[observe.Waiting] = record.Number(0)
		}
	}
	m := modesIn(t, r)["rootfs"]
	if len(m.Differ) != 1 || m.Differ[0].Metric != cpuMetric || !strings.Contains(said.English(m.Differ[0].Text), "it used 995 ms of CPU time a second (1.98 s") {
		t.Errorf("%+v", m.Differ)
	}
}

// TestModesOfTheHost: a change that all arms share is no mode of an arm.
func TestModesOfTheHost(t *testing.T) {
	r := world{seed: 3, generations: 4, blocks: 15, windowSD: 0.03, light: true}.result()
	for _, arm := range armNames {
		moody(r, arm, 0.5, 3)
	}
	for name, m := range modesIn(t, r) {
		if m.Modes != nil {
			t.Errorf("%s: %+v", name, m.Modes)
		}
	}
}

// TestModesUnknown: too little data is undecided.
func TestModesUnknown(t *testing.T) {
	r := world{seed: 3, generations: 1, blocks: 10, windowSD: 0.03, light: true}.result()
	for name, m := range modesIn(t, r) {
		if m.Modes != nil || m.Detectable != 0 || m.Reason.IsZero() {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

// TestPodSwitches: the switches of arms in pods are counted apart from the others.
func TestPodSwitches(t *testing.T) {
	r := world{seed: 3, generations: 1, blocks: 10, light: true}.result()
	r.Lines[len(r.Lines)-1].End.Self = record.Self{Switches: 60}
	r.Plan.Workloads[0].Arms[4].Pod = true // rootfs
	for _, l := range r.Lines {
		if l.Block != nil {
			for j := range l.Block.Windows {
				w := &l.Block.Windows[j]
				w.Freeze, w.Thaw = 0.001, 0.001
				if w.Arm == "rootfs" {
					w.Thaw = 0.001 * float64(l.Block.Number+1)
				}
			}
		}
	}
	e, err := analyseWith(r, 0)
	if err != nil {
		t.Fatal(err)
	}
	if p := e.Self.Pods; p == nil || p.Count != 10 || p.Median != 0.007 || p.P99 != 0.011 {
		t.Errorf("%+v", p)
	}
}

// An arm that is faster in most windows and much slower in an eighth of them, with the same total as the
// host, has no verdict, and the time is that of its total.
func TestTwoSpeedsWithTheSameTotal(t *testing.T) {
	r := world{seed: 3, generations: 8, blocks: 16, windowSD: 0.02, sharedSD: 0.3, launchSD: 0.003, light: true,
		effects: map[string]float64{"rootfs": math.Log(1 / 0.9)}}.result()
	eachWindow(r, func(b *record.Block, i int) {
		if w := &b.Windows[i]; w.Arm == "rootfs" && b.Number >= 14 {
			w.Ops, w.First = w.Ops/5, w.First/5
		}
	})
	x := find(analysed(t, r).Effects, "throughput", "rootfs")
	if x.Speeds == nil || x.Verdict != record.Undecided || x.Reason != twoSpeedsOpen || !(x.Typical.Low > 1) || !(x.Needed > 0) {
		t.Errorf("%v (%s), typical %+v, total %+v, %.0f s more, speeds %+v", x.Verdict, x.Reason, x.Typical, x.Total, x.Needed, x.Speeds)
	}
}
