package analysis

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/record"
)

func check(t testing.TB, r *record.Result, kind string) record.Checks {
	t.Helper()
	all := analysed(t, r).Workloads[0].Checks
	at := slices.IndexFunc(all, func(c record.Checks) bool { return c.Kind == kind })
	if at < 0 {
		return record.Checks{}
	}
	return all[at]
}

// Launches that differ do not make windows resemble each other; two speeds inside launches do, and
// then three launches are too few.
func TestOrderWithinLaunches(t *testing.T) {
	alarms := 0
	for seed := range uint64(20) {
		w := world{seed: 100 + seed, generations: 6, blocks: 8, launchSD: 0.1, windowSD: 0.01, light: true}
		if c := check(t, w.result(), "order"); c.Known && !c.OK {
			alarms++
		}
	}
	if alarms > 1 {
		t.Errorf("a launch effect alone raises %d of 20 alarms", alarms)
	}
	w := world{seed: 32, generations: 3, blocks: 20, windowSD: 0.01, light: true}
	r := w.result()
	eachWindow(r, func(b *record.Block, i int) {
		if x := &b.Windows[i]; x.Arm == "container" && b.Number >= 10 {
			x.Ops = x.Ops * 9 / 10
		}
	})
	if c := check(t, r, "order"); !c.Known || c.OK || c.Subject != "container" || c.Remedy.IsZero() {
		t.Errorf("windows of the container resemble each other, and there are three launches: %+v", c)
	}
}

// A launch of one arm that is slower as a whole is named, and widens the interval of that arm
// alone. Arms whose launches differ alike are no news.
func TestOddLaunches(t *testing.T) {
	w := world{seed: 52, generations: 7, blocks: 6, launchSD: 0.005, windowSD: 0.01, light: true}
	alike, r := w.result(), w.result()
	eachWindow(r, func(b *record.Block, i int) {
		if x := &b.Windows[i]; x.Arm == "rootfs" && b.Generation == 3 {
			x.Ops = x.Ops * 43 / 100
		}
	})
	named := func(e *record.Effects) (out []string) {
		for _, w := range e.Warnings {
			if strings.Contains(said.English(w.Text), "launches") {
				out = append(out, w.Arm+": "+said.English(w.Text))
			}
		}
		return out
	}
	before, after := analysed(t, alike), analysed(t, r)
	if got := named(before); len(got) > 0 {
		t.Errorf("launches alike: %q", got)
	}
	if got := named(after); len(got) != 1 || got[0] != "rootfs: 1 of 7 launches of rootfs was 57 % slower" {
		t.Errorf("one launch at 43 %%: %q", got)
	}
	odd := find(after.Effects, "throughput", "rootfs")
	if odd.Launches == nil || !odd.Launches.Odd || odd.Launches.Count != 7 || odd.Verdict.Worse() || odd.Own.High < 1 {
		t.Errorf("rootfs: %v %+v %+v", odd.Verdict, odd.Launches, odd.Own)
	}
	half := func(e *record.Effects) float64 {
		own := find(e.Effects, "throughput", "cgroup").Own
		return math.Log(own.High / own.Low)
	}
	if a, b := half(before), half(after); b > 1.3*a {
		t.Errorf("the interval of cgroup is %.2f times as wide beside it", b/a)
	}
}

// A burst that hits two neighbouring windows is no drift of the arms.
func TestOrderAndBursts(t *testing.T) {
	alarms := 0
	for seed := range uint64(20) {
		w := world{seed: 300 + seed, generations: 5, blocks: 50, windowSD: 0.01, light: true}
		r := w.result()
		rng := rand.New(rand.NewPCG(seed, 7))
		slow := map[[2]int]bool{}
		for range 8 {
			g, b := rng.IntN(5), rng.IntN(49)
			slow[[2]int{g, b}], slow[[2]int{g, b + 1}] = true, true
		}
		eachWindow(r, func(b *record.Block, i int) {
			if x := &b.Windows[i]; x.Arm == "container" && slow[[2]int{b.Generation, b.Number}] {
				x.Ops /= 2
			}
		})
		if c := check(t, r, "order"); c.Known && !c.OK {
			alarms++
		}
	}
	if alarms > 1 {
		t.Errorf("bursts raise %d of 20 alarms", alarms)
	}
}

// Every load with a schedule is checked for late operations; no other is.
func TestScheduleOfOpenLoads(t *testing.T) {
	for _, c := range []struct {
		name, kind string
		params     map[string]string
		late       float64 // share, of the container
		want       record.Checks
	}{
		{"open, in time", "http", map[string]string{"mode": "open"}, 0.01, record.Checks{Kind: "schedule", OK: true, Known: true, Subject: "container"}},
		{"open, late", "http", map[string]string{"mode": "open"}, 0.2, record.Checks{Kind: "schedule", Known: true, Subject: "container"}},
		{"sysbench at a rate", "sysbench", map[string]string{"rate": "100"}, 0.2, record.Checks{Kind: "schedule", Known: true, Subject: "container"}},
		{"nobody counts", "sysbench", map[string]string{"rate": "100", "hook": "off"}, 0, record.Checks{Kind: "schedule", OK: true}},
		{"late in batches", "rpc", map[string]string{"mode": "open", "batch": "128"}, 0.9, record.Checks{Kind: "schedule", OK: true}},
		{"one by one", "rpc", map[string]string{"mode": "open", "batch": "1"}, 0.2, record.Checks{Kind: "schedule", Known: true, Subject: "container"}},
		{"sysbench without a rate", "sysbench", map[string]string{"rate": "0"}, 0.2, record.Checks{}},
		{"fio's rate is a limit", "fio", map[string]string{"rate": "100"}, 0.2, record.Checks{}},
		{"closed", "oltp", nil, 0.2, record.Checks{}},
	} {
		r := quiet(33).result()
		load := &r.Plan.Workloads[0]
		load.Kind, load.Params = c.kind, c.params
		eachWindow(r, func(b *record.Block, i int) {
			if x := &b.Windows[i]; x.Arm == "container" {
				x.Late = uint64(c.late * float64(x.Ops))
			}
		})
		got := check(t, r, "schedule")
		if got.Kind != c.want.Kind || got.OK != c.want.OK || got.Known != c.want.Known || got.Subject != c.want.Subject {
			t.Errorf("%s: %+v", c.name, got)
		}
		if got.Known && !got.OK && (got.Remedy.IsZero() || !strings.Contains(said.English(got.Text), "20.0 %")) {
			t.Errorf("%s: %q, %q", c.name, got.Text, got.Remedy)
		}
	}
}

// A check without enough data is undecided and has the size that it could have found.
func TestChecksWithoutPower(t *testing.T) {
	w := world{seed: 36, generations: 3, blocks: 4, windowSD: 0.4, light: true}
	r := w.result()
	rng := rand.New(rand.NewPCG(36, 5))
	for _, l := range r.Lines {
		if l.Check != nil {
			l.Check.Rotated *= math.Exp(0.3 * rng.NormFloat64())
		}
	}
	for _, kind := range []string{"transparency"} {
		c := check(t, r, kind)
		if c.Known || c.Ratio == nil || !(c.Detectable > 0.1) {
			t.Errorf("%s of noise of 40 %%: %+v %+v", kind, c, c.Ratio)
		}
	}
	still := quiet(36)
	still.blocks, still.windowSD, still.light = 40, 0.002, true
	for _, kind := range []string{"transparency", "halves"} {
		if c := check(t, still.result(), kind); !c.Known || !c.OK || !(c.Detectable > 0 && c.Detectable < 0.12) {
			t.Errorf("%s without noise: %+v %+v", kind, c, c.Ratio)
		}
	}
}

// The halves are compared in the windows whose middle is known.
func TestHalvesOfSomeWindows(t *testing.T) {
	w := quiet(39)
	w.blocks, w.ownRamp, w.light = 40, 0.05, true
	r := w.result()
	whole := check(t, r, "halves")
	eachWindow(r, func(b *record.Block, i int) {
		if b.Number/2%2 == 1 {
			b.Windows[i].First, b.Windows[i].FirstSeconds = 0, 0
		}
	})
	some := check(t, r, "halves")
	if !whole.Known || !some.Known || whole.OK || some.OK || some.Subject != "container" || math.Abs(some.Ratio.Ratio-whole.Ratio.Ratio) > 0.01 {
		t.Errorf("%+v, of half of the windows %+v", whole, some)
	}
}
