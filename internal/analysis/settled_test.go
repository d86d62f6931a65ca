package analysis

import (
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/record"
)

// The check of the settle time fails for an arm with a CPU limit whose windows opened too early. It
// is absent for arms without a limit, and for settled ones.
func TestSettleTime(t *testing.T) {
	for _, c := range []struct {
		name    string
		limit   func(*record.Arm)
		discard float64
		fails   bool
	}{
		{"a limit", func(a *record.Arm) { a.CPUs = 0.5 }, 0.02, true},
		{"a pod", func(a *record.Arm) { a.Pod, a.Environment = true, "guaranteed:cpu=500m" }, 0.02, true},
		{"it settled", func(a *record.Arm) { a.CPUs = 0.5 }, 0.2, false},
		{"no limit", func(a *record.Arm) { a.Isolation = []string{"cpu.quota"} }, 0.02, false},
		{"it runs anew in each window", func(a *record.Arm) { a.CPUs = 0.5 }, 0, false},
	} {
		w := quiet(37)
		w.blocks = 4
		r := w.result()
		arms := r.Plan.Workloads[0].Arms
		c.limit(&arms[len(arms)-1])
		arms[0].CPUs, arms[1].CPUs = 0.5, 0.5 // the baseline and its twin are compared with nothing
		for i := range r.Lines {
			if p := r.Lines[i].Pilot; p != nil {
				p.Discard = c.discard
			}
		}
		e := analysed(t, r)
		var texts []string
		for _, d := range Doubts(e.Workloads[0]) {
			if strings.Contains(said.English(d.Text), "settle time") {
				texts = append(texts, d.Arm+": "+said.English(d.Text)+"; "+said.English(d.Remedy))
			}
		}
		if !c.fails && len(texts) > 0 || c.fails && (len(texts) != 1 || !strings.HasPrefix(texts[0], arms[len(arms)-1].Name+": ") || !strings.Contains(texts[0], "20 ms") || !strings.Contains(texts[0], "discard:")) {
			t.Errorf("%s: %q", c.name, texts)
		}
	}
}

// Where a run continues such a record, the windows before it do not count; without a CPU limit all
// count.
func TestContinuedAndSettled(t *testing.T) {
	for _, cpus := range []float64{0, 0.5} {
		w := quiet(38)
		w.blocks = 4
		r := w.result()
		arms := r.Plan.Workloads[0].Arms
		arms[len(arms)-1].CPUs = cpus
		before := analysed(t, r).Workloads[0].Blocks
		lines := copyOf(t, r).Lines
		for i := range lines {
			if p := lines[i].Pilot; p != nil {
				p.Discard = 0.2
			}
		}
		r.Lines = append(r.Lines[:len(r.Lines)-1], lines...)
		want := 2 * before
		if cpus > 0 {
			want = before
		}
		if got := analysed(t, r).Workloads[0].Blocks; got != want {
			t.Errorf("limit %g: %d blocks count, want %d", cpus, got, want)
		}
	}
}
