package analysis

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tarelab/tare/internal/analysis/observe"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// Shares never exceed the whole error, and an effect that is shown gives the other metrics of its arm what it had.
func TestSharesArePassedOn(t *testing.T) {
	two := map[string]float64{"a": 0.8, "b": 0.2}
	three := map[string]float64{"a": 0.8, "b": 0.1, "c": 0.1}
	for _, c := range []struct {
		first map[string]float64
		shown []string
		want  map[string]float64
	}{
		{two, nil, two},
		{two, []string{"a"}, map[string]float64{"a": 0.8, "b": 1}},
		{two, []string{"b"}, map[string]float64{"a": 1, "b": 0.2}},
		{two, []string{"a", "b"}, map[string]float64{"a": 1, "b": 1}},
		{three, []string{"a"}, map[string]float64{"a": 0.8, "b": 0.5, "c": 0.5}},
	} {
		all, one := map[string]map[string]bool{}, map[string]map[string]bool{}
		for _, name := range c.shown {
			all[name], one[name] = map[string]bool{everyArm: true, "x": true}, map[string]bool{everyArm: false, "x": true}
		}
		of := passedOn(c.first, one)
		for name, got := range passedOn(c.first, all) {
			want := c.want[name]
			if math.Abs(got.all-want) > 1e-12 || math.Abs(got.arm("x")-want) > 1e-12 || math.Abs(of[name].arm("x")-want) > 1e-12 || of[name].arm("y") != c.first[name] {
				t.Errorf("%v, %v shown: %s has %v, and of one arm %v, want %v", c.first, c.shown, name, got, of[name], want)
			}
		}
	}
}

// Arms that cost CPU time, and no throughput, pass their error on to throughput: at most 5 % of the loads find some there.
func TestNothingIsFoundBesideWhatIsThere(t *testing.T) {
	const runs = 400
	found := 0
	for i := range runs {
		w := world{seed: uint64(9000 + i), generations: 5, blocks: 8, launchSD: 0.006, windowSD: 0.02, sharedSD: 0.02, light: true, cpuSD: 0.02}
		r := w.result()
		eachWindow(r, func(b *record.Block, i int) {
			if x := &b.Windows[i]; x.Arm == "cgroup" || x.Arm == "rootfs" {
				used, _ := x.Probes[cpuMetric].Get()
				x.Probes[cpuMetric] = record.Number(used * 1.2)
			}
		})
		e := analysed(t, r)
		if !find(e.Effects, metric.CPUPerOp.Name, "cgroup").Verdict.Differs() {
			t.Fatalf("seed %d: 20 %% more CPU time is not shown", w.seed)
		}
		if slices.ContainsFunc(e.Effects, func(x record.Effect) bool { return x.Metric == metric.Throughput.Name && x.Verdict.Differs() }) {
			found++
		}
	}
	rate := float64(found) / runs
	t.Logf("throughput differs in %.1f %% of the loads", 100*rate)
	if rate > 0.05+2.6*math.Sqrt(0.05*0.95/runs) {
		t.Errorf("throughput differs in %.1f %% of the loads", 100*rate)
	}
}

// Where nothing differs, at most 5 % of the loads find something, in whichever metric. The records are drawn, and the
// function that ships judges them.
func TestNothingIsFoundInTwoMetrics(t *testing.T) {
	const runs = 400
	found := 0
	for i := range runs {
		w := world{seed: uint64(7000 + i), generations: 5, blocks: 8, launchSD: 0.006, windowSD: 0.02, sharedSD: 0.02, light: true, cpuSD: 0.02}
		r := w.result()
		r.Plan.Workloads[0].Question = "container"
		e := analysed(t, r)
		if slices.ContainsFunc(e.Effects, func(x record.Effect) bool { return !x.Exploratory && x.Verdict.Differs() }) {
			found++
		}
	}
	rate := float64(found) / runs
	t.Logf("something is found in %.1f %% of the loads", 100*rate)
	if rate > 0.05+2.6*math.Sqrt(0.05*0.95/runs) {
		t.Errorf("something is found in %.1f %% of the loads", 100*rate)
	}
}

// On a busy host CPU time per operation is asked first where its first launches say that it is narrower; the effects play
// no role. On a quiet host throughput is.
func TestWhatIsAskedFirst(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 7))
	for name, c := range map[string]struct{ foreign, windowSD, cpuSD float64 }{
		metric.Throughput.Name + " quiet": {0, 0.2, 0.01}, metric.CPUPerOp.Name + " busy": {0.5, 0.2, 0.01}, metric.Throughput.Name + " busy": {0.5, 0.01, 0.2},
	} {
		for _, effect := range []float64{0, -0.3} {
			w := world{seed: rng.Uint64(), generations: 5, blocks: 10, launchSD: 0.001, windowSD: c.windowSD, cpuSD: c.cpuSD, light: true,
				effects: map[string]float64{"container": effect}}
			r := w.result()
			r.Plan.Workloads[0].Question, r.Manifest.Host.CPUs = "container", 2
			eachWindow(r, func(b *record.Block, i int) {
				x := &b.Windows[i]
				x.Probes[observe.Foreign] = record.Number(c.foreign * x.Seconds)
			})
			want := name[:len(name)-len(" busy")]
			if c.foreign == 0 {
				want = metric.Throughput.Name
			}
			if got := analysed(t, r).Workloads[0].Judged[0]; got != want {
				t.Errorf("%s, effect %v: %s is asked first", name, effect, got)
			}
		}
	}
}
