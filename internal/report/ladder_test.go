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

// The time that arms with too few launches need is the longest Needed of their effects, and none is printed where no effect
// has one.
func TestTimeOfFewLaunches(t *testing.T) {
	for _, c := range []struct {
		needed [2]float64
		want   string
	}{{[2]float64{0, 0}, "undecided: cgroup and rootfs: too few."}, {[2]float64{0, 42}, "; about 45 s more would decide."}, {[2]float64{4000, 42}, "; about 67 min more would decide."}} {
		e := &record.Effects{Margin: 0.01, Workloads: []record.WorkloadResult{{Name: "oltp", Primary: "throughput", Judged: []string{"throughput"}, Baseline: "host", Blocks: 30, Generations: 2, Seconds: 60}}}
		for i, arm := range []string{"cgroup", "rootfs"} {
			e.Effects = append(e.Effects, record.Effect{
				Workload: "oltp", Metric: "throughput", Arm: arm, Baseline: "host", Typical: ratio(-5, 2), Generations: 2, Reason: record.InProse("too few"), Needed: c.needed[i],
			})
		}
		notes := english.launchesNotes(english.workloads(e)[0])
		if len(notes) != 1 || !strings.HasSuffix(notes[0].String(), c.want) {
			t.Errorf("%v: %v, want %q", c.needed, notes, c.want)
		}
	}
}
