package analysis

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/record"
)

// questioned is a record whose plan asks about the container. container is its true log effect.
func questioned(seed uint64, container float64) *record.Result {
	w := world{seed: seed, generations: 5, blocks: 12, launchSD: 0.002, windowSD: 0.02, sharedSD: 0.02, light: true,
		effects: map[string]float64{"cgroup": -0.05, "container": container}}
	r := w.result()
	r.Plan.Workloads[0].Question = "container"
	return r
}

func halfOf95(x *record.Ratio) float64 { return math.Log(x.High/x.Low) / 2 }

// The question has an interval of its own. The other arms are judged only where the question is
// found to differ.
func TestTheQuestionComesFirst(t *testing.T) {
	for _, c := range []struct {
		container float64
		want      record.Verdict
	}{{-0.05, record.Slower}, {0, record.Undecided}} {
		r := questioned(31, c.container)
		e := analysed(t, r)
		if e.Workloads[0].Question != "container" {
			t.Errorf("the question is %q", e.Workloads[0].Question)
		}
		asked := find(e.Effects, "throughput", "container")
		if found := asked.Verdict.Worse(); found != (c.container != 0) {
			t.Errorf("%v: the question is %v, %+v", c.container, asked.Verdict, asked.Typical)
		}
		rung := find(e.Effects, "throughput", "cgroup")
		if rung.Verdict != c.want || (c.want == record.Undecided) != strings.Contains(said.English(rung.Reason), "container is not shown to differ") {
			t.Errorf("%v: cgroup is %v (%s), %+v", c.container, rung.Verdict, rung.Reason, rung.Typical)
		}
		if rung.Typical == nil || !(rung.Typical.High < 1) {
			t.Errorf("%v: cgroup has the interval %+v, which must stay", c.container, rung.Typical)
		}
		if s := find(e.Steps, "throughput", "cgroup"); s.Verdict != c.want {
			t.Errorf("%v: the step to cgroup is %v (%s)", c.container, s.Verdict, s.Reason)
		}
		for _, x := range e.Effects {
			if x.Exploratory && strings.Contains(said.English(x.Reason), "undecided, as") {
				t.Errorf("%s of %s is not judged at all: %s", x.Metric, x.Arm, x.Reason)
			}
		}
	}
}

// The question's interval is as wide as that of an arm alone with four fifths of the error, as CPU time per operation is
// not shown. Without a question in the plan it is as wide as that of the family.
func TestTheWidthOfTheQuestion(t *testing.T) {
	r := questioned(32, -0.05)
	e := analysed(t, r)
	if cpu := find(e.Effects, "cpu_per_op", "container"); cpu.Verdict.Differs() {
		t.Fatalf("CPU time per operation is %v (%s)", cpu.Verdict, cpu.Reason)
	}
	alone := halfOf95(find(e.Effects, "throughput", "container").Typical)
	running := Running(&record.Plan{Precision: 0.01}, 0, r.Plan.Workloads[0], r.Lines)
	r.Plan.Workloads[0].Question = ""
	together := halfOf95(find(analysed(t, r).Effects, "throughput", "container").Typical)
	tab := tabulate(r.Plan.Workloads[0], 0, r.Lines)
	m, _ := tab.measureOf("throughput")
	f := tab.fit(m, nil).typical
	if want := f.Interval(f.Against(tab.index["container"]), 1-firstShare*(1-stat.Level(false, false, 1))).Half(); math.Abs(alone-want) > 1e-9 {
		t.Errorf("half-width %v, want %v", alone, want)
	}
	if !(alone < 0.95*together) {
		t.Errorf("half-width %v alone, %v together with all", alone, together)
	}
	for i, s := range running.Arms {
		if i > 0 && tab.index[s.Arm] < tab.index[running.Arms[i-1].Arm] {
			t.Errorf("not in the order of the plan: %+v", running.Arms)
		}
	}
}

// A question that was never measured, or given up after its first launch, is withdrawn: the other
// arms are judged.
func TestAQuestionWithoutWindows(t *testing.T) {
	for name, from := range map[string]int{"never measured": 0, "given up": 1} {
		r := questioned(33, -0.05)
		eachWindow(r, func(b *record.Block, i int) {
			if b.Windows[i].Arm == "container" && b.Generation >= from {
				b.Windows[i].Dropped = record.DropAbandoned
			}
		})
		e := analysed(t, r)
		if x := find(e.Effects, "throughput", "cgroup"); !x.Verdict.Worse() || e.Workloads[0].Question != "" {
			t.Errorf("%s: question %q, cgroup is %v (%s)", name, e.Workloads[0].Question, x.Verdict, x.Reason)
		}
	}
}

// Where dropped windows may hide the effect of the question, the other arms are not judged.
func TestAQuestionThatLostWindows(t *testing.T) {
	r := questioned(35, -0.02)
	n := 0
	eachWindow(r, func(b *record.Block, i int) {
		if w := &b.Windows[i]; w.Arm == "container" {
			if n++; n%2 == 0 {
				w.Dropped = record.DropFreeze
			}
		}
	})
	e := analysed(t, r)
	if x := find(e.Effects, "throughput", "container"); x.Verdict != record.Invalid || x.Bound == nil || x.Typical.High >= 1 {
		t.Fatalf("the question is %v: %+v, bound %+v", x.Verdict, x.Typical, x.Bound)
	}
	for what, x := range map[string]record.Effect{
		"cgroup": find(e.Effects, "throughput", "cgroup"), "the step to cgroup": find(e.Steps, "throughput", "cgroup"),
	} {
		if x.Verdict != record.Undecided || !x.Unjudged || !strings.Contains(said.English(x.Reason), "undecided, as") {
			t.Errorf("%s is %v, unjudged %v (%s)", what, x.Verdict, x.Unjudged, x.Reason)
		}
	}
}

// Labels are shuffled among the arms of a block, so that the question keeps its blocks. More
// judged metrics give fewer findings.
func TestPermutedBlocksKeepTheirArms(t *testing.T) {
	r := questioned(36, 0)
	eachWindow(r, func(b *record.Block, i int) {
		if a := b.Windows[i].Arm; b.Number%2 == 1 && a != "host" && a != "twin" && a != "container" {
			b.Windows[i].Dropped = record.DropAbandoned
		}
	})
	tab := tabulate(r.Plan.Workloads[0], 0, r.Lines)
	m, _ := tab.measureOf("throughput")
	f := tab.fit(m, nil)
	p := permuted{table: tab}
	p.y, p.launch = tab.residual(f)
	for name, z := range map[string][][]float64{"block": p.byBlock(rand.New(rand.NewPCG(1, 2))), "launch": p.byLaunch(rand.New(rand.NewPCG(1, 2)))} {
		for b, row := range p.y {
			sum, was := 0.0, 0.0
			for a := range row {
				if math.IsNaN(row[a]) != math.IsNaN(z[b][a]) {
					t.Fatalf("by %s: %v became %v", name, row, z[b])
				}
				if !math.IsNaN(row[a]) {
					sum, was = sum+z[b][a], was+row[a]
				}
			}
			if math.Abs(sum-was) > 1e-12 {
				t.Fatalf("by %s: %v became %v", name, row, z[b])
			}
		}
	}
	one, many := tab.permutationTest(f, 1, 200), tab.permutationTest(f, 0.05, 200)
	if !(one.Any > many.Any) || one.Rate != many.Rate {
		t.Errorf("found where nothing is: %+v with the whole error, %+v with a twentieth", one, many)
	}
}
