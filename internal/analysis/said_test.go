package analysis

import (
	"math"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/record"
)

// saying turns the throughput of a synthetic record into a value that the load reports, in the
// unit of a time, so that less is better.
func saying(r *record.Result, value func(*record.Window) record.Value) *record.Result {
	load := &r.Plan.Workloads[0]
	load.Primary, load.Metrics = "wait", []string{"wait", "throughput"}
	load.Values = []record.Metric{{Name: "wait", Unit: "s", Better: -1}}
	for _, l := range r.Lines {
		if l.Block == nil {
			continue
		}
		for i := range l.Block.Windows {
			w := &l.Block.Windows[i]
			w.Values = map[string]record.Value{"wait": value(w)}
		}
	}
	return r
}

// A value that the load reports is judged like any other metric.
func TestSaid(t *testing.T) {
	w := world{seed: 5, generations: 8, blocks: 6, effects: map[string]float64{"cgroup": math.Log(0.9)}, windowSD: 0.005, light: true}
	r := saying(w.result(), func(w *record.Window) record.Value { return record.Number(10 / w.Rate()) })
	e, err := analyseWith(r, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, x := range e.Effects {
		if x.Metric != "wait" || x.Arm != "cgroup" {
			continue
		}
		found = true
		if x.Exploratory || !x.Verdict.Worse() || !(x.Typical.Low < 1/0.9 && 1/0.9 < x.Typical.High) {
			t.Errorf("want a cost of 11 %%: %+v %+v", x, x.Typical)
		}
	}
	if v, ok := e.Arms[0].Values["wait"].Get(); !found || !ok || math.Abs(v-0.001) > 1e-5 {
		t.Errorf("found %v, the baseline waits %v", found, e.Arms[0].Values["wait"])
	}
	if p := Running(&record.Plan{Precision: 0.01}, 0, r.Plan.Workloads[0], r.Lines); len(p.Arms) == 0 || math.IsInf(p.Arms[0].Half, 0) {
		t.Errorf("the run cannot stop on it: %+v", p)
	}
	if got := e.Workloads[0].Values; len(got) != 1 || got[0].Unit != "s" {
		t.Errorf("the description is lost: %+v", got)
	}
}

// Without a value there is a reason and no verdict.
func TestSaidNothing(t *testing.T) {
	w := world{seed: 5, generations: 4, blocks: 4, light: true}
	for _, c := range []struct {
		value record.Value
		why   string
	}{
		{record.Missing(record.InProse("the output has no number")), "the output has no number"},
		{record.Number(-1), "not positive"},
	} {
		e, err := Analyse(saying(w.result(), func(*record.Window) record.Value { return c.value }))
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range e.Effects {
			if x.Metric == "wait" && (x.Verdict != record.Undecided || !strings.Contains(said.English(x.Reason), c.why) || x.Typical != nil) {
				t.Errorf("want %q, got %+v", c.why, x)
			}
		}
	}
}
