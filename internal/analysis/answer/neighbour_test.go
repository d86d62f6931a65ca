package answer

import (
	"math"
	"testing"

	"github.com/tarelab/tare/record"
)

// podRun is a load in three pods, alone and beside a neighbour that takes these percents.
func podRun(beside map[string]float64, half float64) *record.Effects {
	e := &record.Effects{Workloads: []record.WorkloadResult{{Name: "db", Primary: "throughput", Baseline: "host", Blocks: 9, Generations: 6}}}
	p := record.Price{Workload: "db", Neighbour: record.Neighbour{Name: "batch", Environment: "besteffort"}, Alone: "host", Unprotected: "host-busy", Primary: "throughput", Metrics: []string{"throughput"}}
	add := func(arm string, percent float64) {
		v := record.Undecided
		if percent+half < 0 {
			v = record.Slower
		}
		e.Effects = append(e.Effects, record.Effect{Workload: "db", Metric: "throughput", Arm: arm, Baseline: "host", Verdict: v, Typical: ratio(percent, half), Generations: 6})
	}
	for _, arm := range []string{"host", "besteffort", "burstable", "guaranteed"} {
		if arm != "host" {
			add(arm, -7)
		}
		add(arm+"-busy", beside[arm])
		p.Rows = append(p.Rows, record.PriceRow{Arm: arm + "-busy", Environment: arm, Alone: arm, Back: []record.Regained{{Metric: "throughput", Effect: &record.Effect{Typical: ratio(beside[arm], half)}}}})
	}
	e.Prices = []record.Price{p}
	return e
}

// A pod protects if it is shown to lose less beside the neighbour than the pod that loses most. It is
// as the one above if their ratio's interval contains 1 and is narrow.
func TestPods(t *testing.T) {
	rows := func(beside map[string]float64, half float64) map[string]record.AnswerRow {
		a := Of(podRun(beside, half))
		if len(a.Tables) != 1 || a.Tables[0].Question != record.AskedPods {
			t.Fatalf("%+v", a.Tables)
		}
		out := map[string]record.AnswerRow{}
		for _, r := range a.Tables[0].Rows {
			out[r.Arm] = r
		}
		return out
	}
	got := rows(map[string]float64{"host": -32, "besteffort": -57, "burstable": -12, "guaranteed": -10}, 4)
	if s := got["besteffort"].Says; s.Word != record.SaysSlower || s.Protects || s.As != "" {
		t.Errorf("the pod that loses most: %+v", s)
	}
	if s := got["burstable"].Says; !s.Protects || s.As != "" {
		t.Errorf("burstable: %+v", s)
	}
	// ln(0.90/0.88) = 0.0225; the half-widths are 0.0445 and 0.0455, together 0.0637
	if s := got["guaranteed"].Says; s.As != "burstable" || math.Abs(s.Within-0.0899) > 0.001 {
		t.Errorf("guaranteed: %+v", s)
	}
	if s := got["host"].Says; s.Protects || s.As != "" || s.Word != record.SaysSlower {
		t.Errorf("the host is no pod: %+v", s)
	}
	got = rows(map[string]float64{"host": 0, "besteffort": -12, "burstable": -10, "guaranteed": -11}, 8)
	for arm, r := range got {
		if r.Says.Protects || r.Says.As != "" {
			t.Errorf("nothing is shown of %s: %+v", arm, r.Says)
		}
	}
	got = rows(map[string]float64{"host": 0, "besteffort": 3, "burstable": 2, "guaranteed": 30}, 2)
	if !got["guaranteed"].Says.Protects || got["besteffort"].Says.Protects {
		t.Errorf("gains: %+v", got)
	}
}

// An isolation protects if it is shown to give back more than half of the loss. Other work is no
// competition there: the neighbour is the question.
func TestNeighbour(t *testing.T) {
	row := func(arm string, share *record.Share) record.PriceRow {
		return record.PriceRow{Arm: arm, Isolation: []string{arm}, Back: []record.Regained{{Metric: "throughput", Share: share}}}
	}
	e := run(record.Slower, -20, 2)
	e.Steps, e.Left = nil, nil
	for i := range e.Effects {
		e.Effects[i].Parts = &record.Parts{CPU: *ratio(-20, 2), PerOp: *ratio(0, 2)}
	}
	for _, arm := range []string{"cgroup", "rootfs", "third"} {
		x := e.Effects[0]
		x.Metric, x.Arm, x.Verdict, x.Typical, x.Parts = "cpu_per_op", arm, record.NoDifference, ratio(0, 0.5), nil
		e.Effects = append(e.Effects, x)
	}
	third := e.Effects[1]
	third.Arm = "third"
	e.Effects = append(e.Effects, third)
	e.Kernel = []record.Kernel{{Workload: "db", Metric: "cpu.foreign", Unit: "s", Per: "second", Values: map[string]record.Value{"cgroup": record.Number(1)}}}
	e.Prices = []record.Price{{Workload: "db", Neighbour: record.Neighbour{Name: "hogs"}, Alone: "host", Unprotected: "cgroup", Primary: "throughput",
		Rows: []record.PriceRow{row("cgroup", nil), row("rootfs", &record.Share{Share: 0.8, Low: 0.55, High: 1}), row("third", &record.Share{Share: 0.8, Low: 0.45, High: 1.2})}}}
	a := Of(e)
	if len(a.Tables) != 1 || a.Tables[0].Question != record.AskedNeighbour || len(a.Tables[0].Rows) != 4 {
		t.Fatalf("%+v", a.Tables)
	}
	for i, want := range []record.Says{{}, {Word: record.SaysSlower}, {Word: record.SaysSlower, Protects: true}, {Word: record.SaysSlower}} {
		if got := a.Tables[0].Rows[i].Says; got.Word != want.Word || got.Protects != want.Protects {
			t.Errorf("row %d: %+v, want %+v", i, got, want)
		}
	}
}
