package analysis

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tarelab/tare/record"
)

func analyse(t testing.TB, w world) *record.Effects {
	t.Helper()
	e, err := Analyse(w.result())
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func quiet(seed uint64) world {
	return world{seed: seed, generations: 6, blocks: 6, launchSD: 0.003, windowSD: 0.01, sharedSD: 0.05, effects: map[string]float64{
		"cgroup": -0.005, "namespaces": -0.005, "rootfs": -0.05, "container": -0.08,
	}}
}

func TestKnownEffectsAreFound(t *testing.T) {
	e := analyse(t, quiet(1))
	for arm, truth := range map[string]float64{"rootfs": -0.05, "container": -0.08} {
		x := find(e.Effects, "throughput", arm)
		if x.Verdict != record.Cost || x.Typical == nil || x.Typical.Low > math.Exp(truth) || x.Typical.High < math.Exp(truth) {
			t.Errorf("%s: verdict %v, typical %+v, truth %.3f", arm, x.Verdict, x.Typical, math.Exp(truth))
		}
		lat := find(e.Effects, "p50", arm)
		if lat.Verdict != record.Cost || !(lat.Total.Ratio > 1) {
			t.Errorf("%s: p50 %v %+v, want a cost", arm, lat.Verdict, lat.Total)
		}
		if cpu := find(e.Effects, "cpu_per_op", arm); cpu.Verdict != record.Negligible {
			t.Errorf("%s: cpu per operation is equal by construction, verdict %v %+v", arm, cpu.Verdict, cpu.Typical)
		}
	}
	if len(e.Twin) != 5 || e.Twin[0].Verdict == record.Cost {
		t.Errorf("twin: %+v", e.Twin)
	}
}

// The steps add up to the total, in logs, whatever the data.
func TestStepsAddUp(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := quiet(rapid.Uint64().Draw(rt, "seed"))
		w.generations = rapid.IntRange(1, 6).Draw(rt, "generations")
		w.blocks = rapid.IntRange(2, 5).Draw(rt, "blocks")
		w.windowSD = rapid.Float64Range(0.001, 0.3).Draw(rt, "noise")
		e := analyse(t, w)
		for _, m := range []string{"throughput", "p50", "cpu_per_op"} {
			typical, total, known := 0.0, 0.0, true
			for _, s := range append(e.Steps, find(e.Effects, m, "container")) {
				known = known && (s.Metric != m || s.Typical != nil && s.Total != nil)
			}
			if !known { // an interval too wide to show
				continue
			}
			for _, s := range e.Steps {
				if s.Metric == m {
					typical, total = typical+math.Log(s.Typical.Ratio), total+math.Log(s.Total.Ratio)
				}
			}
			whole := find(e.Effects, m, "container")
			if math.Abs(typical-math.Log(whole.Typical.Ratio)) > 1e-9 || math.Abs(total-math.Log(whole.Total.Ratio)) > 1e-9 {
				rt.Fatalf("%s: steps add up to %v and %v, the container is %v and %v", m, typical, total,
					math.Log(whole.Typical.Ratio), math.Log(whole.Total.Ratio))
			}
		}
	})
}

func TestIntermittentLossIsNamed(t *testing.T) {
	w := quiet(3)
	w.blocks, w.effects = 20, nil
	w.stallEvery, w.stallBy = 12, 0.2
	x := find(analyse(t, w).Effects, "throughput", "container")
	if !x.Intermittent || x.Slow < 0.04 || x.Slow > 0.16 {
		t.Errorf("one window in 12 loses 20 %%: %+v", x)
	}
	if !(x.Total.Ratio < x.Typical.Ratio) {
		t.Errorf("total %v must be worse than typical %v", x.Total, x.Typical)
	}
}

func TestDroppedBlocks(t *testing.T) {
	w := quiet(4)
	w.drop = func(g, b int) string {
		if b == 0 {
			return record.DropForeign
		}
		return ""
	}
	e := analyse(t, w)
	if e.Dropped.Blocks != 6 || e.Dropped.Of != 36 || e.Dropped.Reasons[record.DropForeign] != 6 {
		t.Errorf("dropped: %+v", e.Dropped)
	}
	if x := find(e.Effects, "throughput", "rootfs"); x.Verdict != record.Invalid || !strings.Contains(x.Reason, "6 of 36") {
		t.Errorf("a sixth of the blocks dropped: verdict %v, %q", x.Verdict, x.Reason)
	}
}

func TestChecksFail(t *testing.T) {
	w := quiet(5)
	w.blocks = 20
	w.carry, w.ramp, w.opaque = -0.1, 0.05, 0.2
	failed := map[string]bool{}
	for _, c := range analyse(t, w).Workloads[0].Checks {
		failed[c.Kind] = c.Known && !c.OK
	}
	for _, kind := range []string{"carry-over", "halves", "transparency"} {
		if !failed[kind] {
			t.Errorf("check %s did not see what was injected", kind)
		}
	}
	w.carry, w.ramp, w.opaque = 0, 0, 0
	for _, c := range analyse(t, w).Workloads[0].Checks {
		if c.Known && !c.OK {
			t.Errorf("check %s fails on data without fault: %s", c.Kind, c.Text)
		}
	}
	w.launchSD, w.windowSD = 0.001, 0.005
	p := Running(w.plan().Workloads[0], w.result().Lines, 0.01, 0.01)
	if !p.Done || p.Opaque {
		t.Errorf("a quiet host is done: %+v", p)
	}
}

// False positives over all arms together stay near 5 %, and the coverage of a
// single true effect near 95 %, with a launch effect, at few generations.
func TestErrorRates(t *testing.T) {
	runs, wrong, covered := 400, 0, 0
	if testing.Short() {
		runs = 100
	}
	truth := math.Log(0.98)
	for i := range runs {
		w := world{seed: uint64(1000 + i), generations: 6, blocks: 3, launchSD: 0.007, windowSD: 0.03, sharedSD: 0.05, light: true}
		w.effects = map[string]float64{"container": truth}
		p := w.plan()
		p.Workloads[0].Metrics = []string{"throughput"}
		r := w.result()
		r.Plan = p
		e, err := Analyse(r)
		if err != nil {
			t.Fatal(err)
		}
		any := false
		for _, x := range e.Effects {
			if x.Arm == "container" {
				if x.Own.Low <= 0.98 && x.Own.High >= 0.98 {
					covered++
				}
				continue
			}
			any = any || x.Verdict == record.Cost || x.Verdict == record.Gain
		}
		if any {
			wrong++
		}
	}
	fp, cover := float64(wrong)/float64(runs), float64(covered)/float64(runs)
	t.Logf("%d runs: any of four equal arms called different in %.1f %%, a true 2 %% covered in %.1f %%", runs, 100*fp, 100*cover)
	if fp > 0.08 || cover < 0.925 || cover > 0.995 {
		t.Errorf("error rates: family-wise %.3f, coverage %.3f", fp, cover)
	}
}

func TestNothingIsUndecided(t *testing.T) {
	w := quiet(6)
	w.generations = 0
	e := analyse(t, w)
	for _, x := range append(append(e.Effects, e.Steps...), e.Twin...) {
		if x.Verdict != record.Undecided || x.Typical != nil || x.Reason == "" {
			t.Errorf("no data: %s %s: %v %+v %q", x.Arm, x.Metric, x.Verdict, x.Typical, x.Reason)
		}
	}
	var zero record.Verdict
	if zero.String() != "undecided" {
		t.Errorf("the zero verdict is %s", zero)
	}
}

// BenchmarkAnalyse is the re-analysis of a record of 10 000 windows.
func BenchmarkAnalyse(b *testing.B) {
	w := quiet(7)
	w.generations, w.blocks = 20, 83
	r := w.result()
	dir := b.TempDir()
	out, err := record.Create(dir)
	if err != nil {
		b.Fatal(err)
	}
	if err := out.Append(r.Lines...); err != nil {
		b.Fatal(err)
	}
	out.Close()
	if err := record.WriteJSON(dir, record.PlanFile, r.Plan); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	for b.Loop() {
		start := time.Now()
		back, err := record.Read(dir)
		if err != nil {
			b.Fatal(err)
		}
		read := time.Since(start)
		if _, err := Analyse(back); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(read.Seconds(), "s/read")
		b.ReportMetric(20*83*6, "windows")
	}
}
