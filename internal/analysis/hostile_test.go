package analysis

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/analysis/observe"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/record"
)

// eachWindow calls f with every window of a record and its block.
func eachWindow(r *record.Result, f func(b *record.Block, i int)) {
	for _, l := range r.Lines {
		if l.Block == nil {
			continue
		}
		for i := range l.Block.Windows {
			f(l.Block, i)
		}
	}
}

// copyOf is a record that shares nothing with r.
func copyOf(t testing.TB, r *record.Result) *record.Result {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	out := &record.Result{}
	if err := json.Unmarshal(b, out); err != nil {
		t.Fatal(err)
	}
	return out
}

func analysed(t testing.TB, r *record.Result) *record.Effects {
	t.Helper()
	e, err := analyseWith(r, 0)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Twice the operations and CPU time in every window of an arm add a constant to its logarithms:
// its throughput moves by that and no interval gets wider, whichever windows are missing. Only where the
// arm's throughput is shown by that are the simultaneous intervals of its other metric narrower: it has passed its error on.
func TestAnEffectWidensNothing(t *testing.T) {
	for seed := range uint64(24) {
		rng := rand.New(rand.NewPCG(seed, 2))
		w := world{seed: seed, generations: 1 + rng.IntN(4), blocks: 2 + rng.IntN(4), launchSD: 0.01, sharedSD: 0.05,
			windowSD: 0.003 + 0.2*rng.Float64(), light: true}
		arm, factor, missing := armNames[1+rng.IntN(len(armNames)-1)], uint64(2+rng.IntN(14)), 0.4*rng.Float64()
		r := w.result()
		r.Plan.Workloads[0].Metrics = []string{"throughput"}
		for _, l := range r.Lines {
			if l.Block == nil {
				continue
			}
			l.Block.Windows = slices.DeleteFunc(l.Block.Windows, func(record.Window) bool { return rng.Float64() < missing/2 })
			for i := range l.Block.Windows {
				if rng.Float64() < missing {
					l.Block.Windows[i].Dropped = record.DropFreeze
				}
			}
		}
		scaled := copyOf(t, r)
		eachWindow(scaled, func(b *record.Block, i int) {
			if x := &b.Windows[i]; x.Arm == arm {
				cpu, _ := x.Probes[cpuMetric].Get()
				x.Ops, x.First = x.Ops*factor, x.First*factor
				x.Probes[cpuMetric] = record.Number(cpu * float64(factor))
			}
		})
		before, after := analysed(t, r), analysed(t, scaled)
		pairs := func(e *record.Effects) []record.Effect { return slices.Concat(e.Effects, e.Steps, e.Twin) }
		was, is := pairs(before), pairs(after)
		for i := range was {
			moved := 0.0
			if was[i].Metric == "throughput" {
				moved = shiftOf(was[i], arm) * math.Log(float64(factor))
			}
			known := was[i].Metric != "throughput" && shownFor(after, was[i]) && !shownFor(before, was[i])
			sameWidth(t, seed, was[i], is[i], moved, known)
		}
	}
}

// shownFor reports whether the throughput of an effect's arm is shown to differ from its baseline.
func shownFor(e *record.Effects, x record.Effect) bool {
	return slices.ContainsFunc(e.Effects, func(other record.Effect) bool {
		return other.Metric == "throughput" && other.Arm == x.Arm && other.Baseline == x.Baseline && other.Verdict.Differs()
	})
}

// shiftOf is the part of a constant, added to the logarithms of an arm, by which an effect moves.
// The control is the mean of the host and its twin.
func shiftOf(e record.Effect, arm string) float64 {
	part := func(of string) float64 {
		switch {
		case of == "host" && e.Arm != "twin" && (arm == "host" || arm == "twin"):
			return 0.5
		case of == arm:
			return 1
		}
		return 0
	}
	return part(e.Arm) - part(e.Baseline)
}

// sameWidth compares the intervals of two effects. better: the simultaneous ones have more of the error now.
func sameWidth(t *testing.T, seed uint64, was, is record.Effect, moved float64, better bool) {
	t.Helper()
	for n, x := range [][2]*record.Ratio{{was.Typical, is.Typical}, {was.Own, is.Own}, {was.Total, is.Total}} {
		where := fmt.Sprintf("seed %d, ratio %d: %s of %s against %s", seed, n, was.Metric, was.Arm, was.Baseline)
		if (x[0] == nil) != (x[1] == nil) {
			t.Errorf("%s: %+v, then %+v", where, x[0], x[1])
		}
		if x[0] == nil || x[1] == nil {
			continue
		}
		half := func(r *record.Ratio) float64 { return math.Log(r.High/r.Low) / 2 }
		if a, b := half(x[0]), half(x[1]); b > a+1e-9 || b < a-1e-9 && !(better && n != 1) {
			t.Errorf("%s: half-width %v, then %v", where, a, b)
		}
		if d := math.Log(x[1].Ratio / x[0].Ratio); math.Abs(d-moved) > 1e-9 {
			t.Errorf("%s moved by %v, want %v", where, d, moved)
		}
	}
}

// Windows that one arm loses more often widen its interval. Where the verdict does not survive
// that, the effect is invalid.
func TestDropsOfOneArm(t *testing.T) {
	const arm = "rootfs"
	for _, c := range []struct {
		name   string
		effect float64
		drop   func(b *record.Block, i int) bool
		bound  bool
		want   record.Verdict
	}{
		{"none", -0.02, func(*record.Block, int) bool { return false }, false, record.Slower},
		{"all alike", -0.02, func(b *record.Block, i int) bool { return b.Number%4 == 0 && i == b.Generation%6 }, false, record.Slower},
		{"one arm, a large effect", -0.3, func(b *record.Block, i int) bool { return b.Number%4 == 0 && b.Windows[i].Arm == arm }, true, record.Slower},
		{"one arm, a small effect", -0.02, func(b *record.Block, i int) bool { return b.Number%4 == 0 && b.Windows[i].Arm == arm }, true, record.Invalid},
	} {
		w := world{seed: 22, generations: 6, blocks: 12, launchSD: 0.001, windowSD: 0.03, sharedSD: 0.02, light: true,
			effects: map[string]float64{arm: c.effect}}
		r := w.result()
		eachWindow(r, func(b *record.Block, i int) {
			if c.drop(b, i) {
				b.Windows[i].Dropped = record.DropError
			}
		})
		e := analysed(t, r)
		x := find(e.Effects, "throughput", arm)
		if x.Verdict != c.want || x.Verdict == record.Invalid && !strings.Contains(said.English(x.Reason), "25 % of the windows of "+arm) {
			t.Errorf("%s: %v %q, typical %+v, bound %+v", c.name, x.Verdict, x.Reason, x.Typical, x.Bound)
		}
		// The end of a shown effect that is nearer to 1 moves for dropped windows alone.
		if x.Bound == nil || x.Bound.Low >= x.Typical.Low || x.Verdict.Worse() && (x.Bound.High > x.Typical.High) != c.bound {
			t.Errorf("%s: bound %+v, typical %+v", c.name, x.Bound, x.Typical)
		}
		if other := find(e.Effects, "throughput", "cgroup"); other.Verdict == record.Invalid {
			t.Errorf("%s: cgroup lost none of its own: %v %q", c.name, other.Verdict, other.Reason)
		}
	}
}

// A loss of throughput is split into CPU time per operation and CPU time received.
func TestPartsOfALoss(t *testing.T) {
	loss := math.Log(0.8)
	for name, c := range map[string]struct {
		cost float64 // log ratio of CPU time per operation
		most string
	}{
		"operations cost more": {-loss, record.PartPerOp},
		"less CPU time":        {0, record.PartCPU},
	} {
		w := world{seed: 22, generations: 5, blocks: 8, launchSD: 0.002, windowSD: 0.01, light: true, effects: map[string]float64{"container": loss}}
		r := w.result()
		rng := rand.New(rand.NewPCG(22, 3))
		eachWindow(r, func(b *record.Block, i int) {
			x := &b.Windows[i]
			cost := 0.005 * rng.NormFloat64()
			if x.Arm == "container" {
				cost += c.cost
			}
			cpu, _ := x.Probes[cpuMetric].Get()
			x.Probes[cpuMetric] = record.Number(cpu * math.Exp(cost))
		})
		p := find(analysed(t, r).Effects, "throughput", "container").Parts
		if p == nil || p.Most != c.most {
			t.Fatalf("%s: %+v", name, p)
		}
		in := func(r record.Ratio, truth float64) bool { return math.Log(r.Low) < truth && truth < math.Log(r.High) }
		if !in(p.PerOp, c.cost) || !in(p.CPU, loss+c.cost) {
			t.Errorf("%s: CPU time %+v, per operation %+v", name, p.CPU, p.PerOp)
		}
		if quotient := p.CPU.Ratio / p.PerOp.Ratio; math.Abs(math.Log(quotient)-loss) > 0.01 {
			t.Errorf("%s: the parts make %v", name, quotient)
		}
		other := find(analysed(t, r).Effects, "throughput", "cgroup").Parts
		if other == nil || other.Most != "" {
			t.Errorf("%s: cgroup loses nothing: %+v", name, other)
		}
	}
}

// withSteal gives every window CPU time and stolen time, as shares of two CPUs.
func withSteal(r *record.Result, used, steal float64) *record.Result {
	const cpus = 2
	r.Manifest.Host.CPUs = cpus
	eachWindow(r, func(b *record.Block, i int) {
		x := &b.Windows[i]
		x.Probes = map[string]record.Value{cpuMetric: record.Number(used * cpus * x.Seconds), observe.Stolen: record.Number(steal * cpus * x.Seconds)}
	})
	return r
}

// The kernel counts stolen time in ticks: a tick in a window of 20 ms is more than the time stolen
// in it, and does not show that CPU time contains steal.
func TestTicksOfSteal(t *testing.T) {
	r := withSteal(quiet(23).result(), 0.97, 0)
	n := 0
	eachWindow(r, func(b *record.Block, i int) {
		if n++; n%10 == 0 { // 2 % of all
			x := &b.Windows[i]
			x.Probes[observe.Stolen] = record.Number(0.2 * 2 * x.Seconds)
		}
	})
	for _, x := range analysed(t, r).Workloads[0].Checks {
		if x.Kind == "cpu time" && (!x.OK || !x.Known || !strings.Contains(said.English(x.Text), "too little was stolen to matter")) {
			t.Errorf("%+v", x)
		}
	}
}

// Where the kernel counts stolen time as used, operations per CPU second are not judged, and a
// check says so.
func TestCPUTimeThatIsNotNetOfSteal(t *testing.T) {
	for name, c := range map[string]struct {
		used, steal float64
		judged      []string
		ok, known   bool
		text        string
	}{
		"net":        {0.7, 0.3, []string{"throughput", "cpu_per_op"}, true, true, "is net of"},
		"not net":    {1, 0.3, []string{"throughput"}, false, true, "130 %"},
		"idle CPUs":  {0.3, 0.3, []string{"throughput", "cpu_per_op"}, true, false, "too little to tell"},
		"no stealer": {1, 0, []string{"throughput", "cpu_per_op"}, true, true, "too little was stolen to matter"},
	} {
		e := analysed(t, withSteal(quiet(23).result(), c.used, c.steal))
		at := slices.IndexFunc(e.Workloads[0].Checks, func(x record.Checks) bool { return x.Kind == "cpu time" })
		if at < 0 {
			t.Fatalf("%s: no check of CPU time", name)
		}
		if x := e.Workloads[0].Checks[at]; x.OK != c.ok || x.Known != c.known || !strings.Contains(said.English(x.Text), c.text) || !c.ok && x.Remedy.IsZero() {
			t.Errorf("%s: %+v", name, x)
		}
		if got := e.Workloads[0].Judged; !reflect.DeepEqual(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(c.judged))) {
			t.Errorf("%s: judged are %v", name, got)
		}
		if x := find(e.Effects, "cpu_per_op", "container"); x.Exploratory == c.ok {
			t.Errorf("%s: exploratory %v", name, x.Exploratory)
		}
	}
}
