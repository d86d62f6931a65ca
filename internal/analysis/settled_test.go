package analysis

import (
	"strings"
	"testing"

	"github.com/tarelab/tare/record"
)

// An arm with a quota whose windows opened while its account was full is said to lose
// too little; nothing is said of one that had none, or that settled.
func TestSettleTime(t *testing.T) {
	for _, c := range []struct {
		name    string
		limit   func(*record.Arm)
		discard float64
		fails   bool
	}{
		{"a limit", func(a *record.Arm) { a.CPUs = 0.5 }, 0.02, true},
		{"a mechanism", func(a *record.Arm) { a.Isolation = []string{"cpu.weight", "cpu.quota=1"} }, 0.02, true},
		{"it settled", func(a *record.Arm) { a.CPUs = 0.5 }, 0.2, false},
		{"no quota", func(a *record.Arm) { a.Isolation = []string{"cpu.weight"} }, 0.02, false},
	} {
		w := quiet(37)
		w.blocks = 4
		r := w.result()
		arms := r.Plan.Workloads[0].Arms
		c.limit(&arms[len(arms)-1])
		for i := range r.Lines {
			if p := r.Lines[i].Pilot; p != nil {
				p.Discard = c.discard
			}
		}
		e := analysed(t, r)
		var said []string
		for _, d := range Doubts(e.Workloads[0]) {
			if strings.Contains(d.Text, "settle time") {
				said = append(said, d.Arm+": "+d.Text+"; "+d.Remedy)
			}
		}
		if !c.fails && len(said) > 0 || c.fails && (len(said) != 1 || !strings.HasPrefix(said[0], arms[len(arms)-1].Name+": ") || !strings.Contains(said[0], "20 ms") || !strings.Contains(said[0], "discard:")) {
			t.Errorf("%s: %q", c.name, said)
		}
	}
}
