package arrange

import (
	"strings"
	"testing"

	"github.com/tarelab/tare/record"
)

// TestLadderOrder: rungs stand above the rung that they step from, in any order of the input.
func TestLadderOrder(t *testing.T) {
	step := func(arm, below string) record.Effect {
		return record.Effect{Workload: "w", Metric: "throughput", Arm: arm, Baseline: below}
	}
	e := &record.Effects{
		Workloads: []record.WorkloadResult{{Name: "w", Primary: "throughput", Baseline: "host"}},
		Effects:   []record.Effect{step("limit", "host")},
		Steps:     []record.Effect{step("c", "b"), step("b", "a"), step("a", "host"), step("x", "y"), step("y", "x")},
		Twin:      []record.Effect{step("twin", "host")},
	}
	w := Workloads(e)[0]
	if got, want := strings.Join(w.Arms(), " "), "host a b c x y limit twin"; got != want {
		t.Errorf("arms %q, want %q", got, want)
	}
}

// TestSubject: the answer is about the question of the plan; without one, about the top rung.
func TestSubject(t *testing.T) {
	w := Workload{WorkloadResult: record.WorkloadResult{Primary: "throughput", Baseline: "host"}, Ladder: []string{"host", "cgroup", "container"}}
	w.Effect = map[Key]record.Effect{{"throughput", "cgroup"}: {}, {"throughput", "container"}: {}}
	for question, want := range map[string]string{"": "container", "cgroup": "cgroup", "nat": "container"} {
		if w.Question = question; w.Subject() != want {
			t.Errorf("question %q: the subject is %q, want %q", question, w.Subject(), want)
		}
	}
}

// An effect outgrows a twin's that is less than half of it, at the worst ends of both intervals.
func TestOutgrows(t *testing.T) {
	for _, c := range []struct {
		low, high, twinLow, twinHigh float64
		verdict                      record.Verdict
		want                         bool
	}{
		{0.5, 0.7, 0.95, 0.99, record.Cost, true}, {0.5, 0.7, 0.8, 0.99, record.Cost, false}, {0.5, 1.01, 0.95, 0.99, record.Cost, false},
		{1.3, 1.6, 1.01, 1.05, record.Gain, true}, {1.05, 1.6, 0.95, 0.99, record.Gain, false}, {0.5, 0.7, 0.95, 0.99, record.Undecided, false},
	} {
		x := record.Effect{Verdict: c.verdict, Typical: &record.Ratio{Ratio: (c.low + c.high) / 2, Low: c.low, High: c.high}}
		if got := Outgrows(x, record.Effect{Typical: &record.Ratio{Low: c.twinLow, High: c.twinHigh}}); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
