package run_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/environment/layers"
	"github.com/tarelab/tare/internal/experiment"
	"github.com/tarelab/tare/internal/plan"
	"github.com/tarelab/tare/internal/testneed"
)

// Where an arm has a CPU quota, windows open two of its periods after a thaw; a shorter
// settle time that was asked for is kept, with a warning.
func TestSettleTimeOfALimit(t *testing.T) {
	testneed.Root(t)
	for _, c := range []struct{ asked, want time.Duration }{{0, 200 * time.Millisecond}, {20 * time.Millisecond, 20 * time.Millisecond}} {
		e := spinExperiment(5 * time.Second)
		e.Discard, e.Workloads[0].Baseline = c.asked, "host"
		e.Named = []experiment.Arm{{Name: "host", Environment: "host"}, {Name: "half", Environment: "cgroup", CPUs: 0.5}}
		r, _, err := execute(context.Background(), t, e, catalog(plan.Rung{Environment: layers.Host}, plan.Rung{Environment: layers.Cgroup, Grouped: true}))
		if err != nil {
			t.Fatal(err)
		}
		warned := false
		for _, l := range r.Lines {
			if w := l.Warning; w != nil && strings.Contains(w.Text, "is too short") && strings.Contains(w.Remedy, "make it 200ms") {
				warned = true
			}
			if p := l.Pilot; p != nil && p.Discard != c.want.Seconds() {
				t.Errorf("asked for %s: %v s of settle time", c.asked, p.Discard)
			}
		}
		if short := c.asked > 0; warned != short {
			t.Errorf("asked for %s: warned %v", c.asked, warned)
		}
	}
}
