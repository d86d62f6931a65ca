package analysis

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/record"
)

func analyse(t testing.TB, w world) *record.Effects {
	t.Helper()
	e, err := analyseWith(w.result(), 0)
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
		if !x.Verdict.Worse() || x.Typical == nil || x.Typical.Low > math.Exp(truth) || x.Typical.High < math.Exp(truth) {
			t.Errorf("%s: verdict %v, typical %+v, truth %.3f", arm, x.Verdict, x.Typical, math.Exp(truth))
		}
		lat := find(e.Effects, "p50", arm)
		if !lat.Verdict.Worse() || !(lat.Total.Ratio > 1) {
			t.Errorf("%s: p50 %v %+v, want a cost", arm, lat.Verdict, lat.Total)
		}
		if cpu := find(e.Effects, "cpu_per_op", arm); cpu.Verdict.Differs() || cpu.Exploratory {
			t.Errorf("%s: cpu per operation is equal by construction, verdict %v %+v", arm, cpu.Verdict, cpu.Typical)
		}
	}
	if len(e.Twin) != 5 || e.Twin[0].Verdict.Worse() {
		t.Errorf("twin: %+v", e.Twin)
	}
}

// The steps add up to the total, in logarithms, for any data.
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

// Windows of about one operation are no stalls, though many have none: the counts scatter so.
func TestFewOperationsAreNoStalls(t *testing.T) {
	for seed := range uint64(3) {
		w := quiet(seed)
		w.blocks, w.effects, w.light = 20, map[string]float64{"container": -0.3}, true
		r := w.result()
		rng := rand.New(rand.NewPCG(seed, 9))
		for _, l := range r.Lines {
			for i := range windowsOf(l) {
				x := &l.Block.Windows[i]
				mean := 3.0
				if x.Arm == "container" {
					mean = 1
				}
				x.Ops, x.First = 0, 0
				for p := rng.Float64(); p > math.Exp(-mean); p *= rng.Float64() {
					x.Ops++
				}
			}
		}
		e, err := Analyse(r)
		if err != nil {
			t.Fatal(err)
		}
		if x := find(e.Effects, "throughput", "container"); x.Intermittent {
			t.Errorf("seed %d: %+v", seed, x)
		}
	}
}

func windowsOf(l record.Line) []record.Window {
	if l.Block == nil {
		return nil
	}
	return l.Block.Windows
}

// Of a block that ended early all windows but the last count.
func TestDroppedBlocks(t *testing.T) {
	for _, reason := range []string{record.DropFreeze, record.DropDied, record.DropSilent, record.DropLong} {
		const lost = 6
		w := quiet(4)
		w.drop = func(g, b int) string {
			if b == 0 {
				return reason
			}
			return ""
		}
		e := analyse(t, w)
		if d := e.Dropped; d.Windows != lost || d.Blocks != lost || d.Of != 36 || d.WindowsOf != 216 || d.Reasons[reason] != lost {
			t.Errorf("%s: dropped %+v", reason, d)
		}
		if x := find(e.Effects, "throughput", "rootfs"); !x.Verdict.Worse() {
			t.Errorf("%s: a sixth of the blocks lack a window at most, verdict %v, %q", reason, x.Verdict, x.Reason)
		}
		if l := e.Workloads[0]; l.Windows != 216-lost || l.WindowsOf != 216 || math.Abs(l.Counted-0.2*float64(216-lost)) > 1e-6 {
			t.Errorf("%s: %d of %d windows count, %g s", reason, l.Windows, l.WindowsOf, l.Counted)
		}
	}
}

// The detail of the last dropped window is kept.
func TestWhatWasSaid(t *testing.T) {
	w := quiet(4)
	r := w.result()
	n := 0
	eachWindow(r, func(b *record.Block, i int) {
		if b.Number == 1 && b.Windows[i].Arm == "rootfs" {
			n++
			b.Windows[i].Dropped, b.Windows[i].Detail = record.DropError, fmt.Sprintf("%d errors\n  no space left", n)
		}
	})
	if d := analysed(t, r).Dropped; n == 0 || d.Reasons[record.DropError] != n || d.Said[record.DropError] != fmt.Sprintf("oltp/rootfs: %d errors\n  no space left", n) {
		t.Errorf("%d windows: %+v", n, d)
	}
}

func TestChecksFail(t *testing.T) {
	w := quiet(5)
	w.blocks = 20
	w.ramp, w.ownRamp, w.opaque = 0.05, 0.05, 0.2
	failed := map[string]bool{}
	for _, c := range analyse(t, w).Workloads[0].Checks {
		failed[c.Kind] = c.Known && !c.OK
	}
	for _, kind := range []string{"halves", "transparency"} {
		if !failed[kind] {
			t.Errorf("check %s did not see what was injected", kind)
		}
	}
	w.ownRamp, w.opaque = 0, 0.05 // a transient that all arms have alike cancels
	for _, c := range analyse(t, w).Workloads[0].Checks {
		if c.Known && !c.OK {
			t.Errorf("check %s fails on data without fault: %s", c.Kind, c.Text)
		}
	}
	w.launchSD, w.windowSD = 0.001, 0.005
	p := Running(&record.Plan{Precision: 0.01}, 0, w.plan().Workloads[0], w.result().Lines)
	if !p.Done || p.Opaque {
		t.Errorf("a quiet host is done: %+v", p)
	}
}

// With launch effects and few generations, false positives over all arms together stay near
// 5 %, and the coverage of a single true effect near 95 %.
func TestErrorRates(t *testing.T) {
	runs, wrong, covered := 200, 0, 0
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
		e, err := analyseWith(r, 0)
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
			any = any || x.Verdict.Differs()
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
		if x.Verdict != record.Undecided || x.Typical != nil || x.Reason.IsZero() {
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

// BenchmarkLongRecord analyses 100 000 windows again: the result directory TARETEST_RECORD with
// its blocks repeated. It reports CPU time, which other processes hardly change, and the peak
// memory of the process, with that of writing the record.
func BenchmarkLongRecord(b *testing.B) {
	from := os.Getenv("TARETEST_RECORD")
	if from == "" {
		b.Skip("TARETEST_RECORD names no result directory")
	}
	dir, windows := b.TempDir(), 0
	lengthen(b, from, dir, 100_000)
	before, rounds := used(b), 0
	for b.Loop() {
		rounds++
		r, err := record.Scan(dir)
		if err != nil {
			b.Fatal(err)
		}
		e, err := Analyse(r)
		if err != nil {
			b.Fatal(err)
		}
		windows = e.Dropped.WindowsOf
	}
	after := used(b)
	b.ReportMetric(float64(windows), "windows")
	b.ReportMetric(float64(after.Utime.Nano()+after.Stime.Nano()-before.Utime.Nano()-before.Stime.Nano())/1e9/float64(rounds), "cpu-s/op")
	b.ReportMetric(float64(after.Maxrss)/1024, "MiB")
}

func used(b *testing.B) (u syscall.Rusage) {
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u
}

// lengthen repeats every block of a result until it has at least that many windows.
func lengthen(b *testing.B, from, to string, windows int) {
	r, err := record.Read(from)
	if err != nil {
		b.Fatal(err)
	}
	have := 0
	eachWindow(r, func(*record.Block, int) { have++ })
	out, err := record.Create(to)
	if err != nil {
		b.Fatal(err)
	}
	defer out.Close()
	for _, l := range r.Lines {
		lines := []record.Line{l}
		for k := 1; l.Block != nil && k < (windows+have-1)/have; k++ {
			again := *l.Block
			again.Number += 1000 * k
			lines = append(lines, record.Line{Time: l.Time, Block: &again})
		}
		if err := out.Append(lines...); err != nil {
			b.Fatal(err)
		}
	}
	if err := errors.Join(record.WriteJSON(to, record.PlanFile, r.Plan), record.WriteJSON(to, record.ManifestFile, r.Manifest)); err != nil {
		b.Fatal(err)
	}
}

// Where no window of the baseline counts, no arm is compared, and there is no forecast.
func TestNoWindowOfAnArmCounts(t *testing.T) {
	for _, arm := range []string{"host", "container", "twin"} {
		r := quiet(4).result()
		for i := range r.Lines {
			if b := r.Lines[i].Block; b != nil {
				for j := range b.Windows {
					if b.Windows[j].Arm == arm {
						b.Windows[j].Dropped = record.DropLong
					}
				}
			}
		}
		e, err := Analyse(r)
		if err != nil {
			t.Fatal(err)
		}
		x := find(e.Effects, "throughput", "container")
		if withheld := x.Typical == nil && !x.Reason.IsZero(); withheld != (arm != "twin") {
			t.Errorf("no window of %s: %+v", arm, x)
		}
		if want := map[string]string{"host": "host: no window of this arm counts", "container": "no window of this arm counts"}[arm]; said.English(x.Reason) != want {
			t.Errorf("no window of %s: %q, want %q", arm, x.Reason, want)
		}
		if arm == "host" && len(e.Workloads[0].Forecast) > 0 {
			t.Errorf("foretold: %+v", e.Workloads[0].Forecast)
		}
	}
}
