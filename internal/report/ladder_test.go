package report

import (
	"strings"
	"testing"

	"github.com/tarelab/tare/record"
)

// An arm that would be a cost, were the question found to differ, is told apart from one
// whose interval is too wide.
func TestWhatIsNotJudged(t *testing.T) {
	arm := func(name string, percent, half float64) record.Effect {
		return record.Effect{Workload: "oltp", Metric: "throughput", Arm: name, Baseline: "host", Typical: ratio(percent, half), Generations: 6, Detectable: 0.03}
	}
	e := &record.Effects{Margin: 0.01, Effects: []record.Effect{arm("cgroup", -5, 2), arm("rootfs", -1, 2), arm("container", 0, 1.5)},
		Workloads: []record.WorkloadResult{{Name: "oltp", Primary: "throughput", Judged: []string{"throughput"}, Baseline: "host", Blocks: 30, Question: "container"}}}
	e.Effects[0].Unjudged = true
	var notes []string
	for _, n := range english.ladderNotes(e, english.workloads(e)[0]) {
		notes = append(notes, n.String())
	}
	got := strings.Join(notes, "\n")
	for _, want := range []string{": undecided: cgroup, as container is not shown to differ.", "undecided: rootfs and container."} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
}
