package launchtest

import (
	"slices"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/undo/journal"
)

// Launch measures the median times in which an arm without data opens, starts its load and closes.
func Launch(b *testing.B, e environment.Environment) {
	tree, err := cgroup.Detect("/")
	if err != nil {
		b.Fatal(err)
	}
	j, err := journal.Open(b.TempDir(), runID())
	if err != nil {
		b.Fatal(err)
	}
	defer j.Close()
	spec := environment.Spec{Run: j.Run(), Arm: e.Name(), Scratch: b.TempDir(), Journal: j, Groups: tree, Port: 5000}
	var open, start, closing []time.Duration
	for b.Loop() {
		began := time.Now()
		a, err := e.Open(b.Context(), spec)
		if err != nil {
			b.Fatal(err)
		}
		opened := time.Now()
		_, err = a.Start(b.Context(), environment.Process{Args: []string{Look}})
		started := time.Now()
		if closed := a.Close(); err != nil || closed != nil {
			b.Fatal(err, closed)
		}
		open, start, closing = append(open, opened.Sub(began)), append(start, started.Sub(opened)), append(closing, time.Since(started))
	}
	for name, all := range map[string][]time.Duration{"ms-open": open, "ms-start": start, "ms-close": closing} {
		slices.Sort(all)
		b.ReportMetric(float64(all[len(all)/2])/1e6, name)
	}
}
