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
