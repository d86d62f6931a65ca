package run_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/testing/testneed"

	"github.com/tarelab/tare/record"
)

// A neighbour that cannot be started in the first launch is started again on its instance, which runs
// without it.
func TestNeighbourIsTriedAgain(t *testing.T) {
	testneed.Root(t)
	for name, times := range map[string]int32{"once": 1, "always": 1000} {
		t.Run(name, func(t *testing.T) {
			e, c := beside(workload.Spin{}, nil, 20*time.Minute)
			f := failing{Environment: c.Beside, times: times, reason: errors.New("too busy"), opened: new(atomic.Int32)}
			c.Beside = f
			e.Named = append(e.Named, experiment.ArmSpec{Name: "quiet", Environment: "cgroup", Options: record.Options{CPUs: 1}}) // without it there is nothing to compare
			r := firstBlocks(t, e, c)
			windows := 0
			for _, l := range r.Lines {
				if l.Block != nil {
					windows += windowsOfArm(l.Block, "none") + windowsOfArm(l.Block, "idle")
				}
			}
			up, opens, left := times == 1, int32(2), 0
			if !up {
				opens, left = 3, 2 // both arms
			}
			if n := f.opened.Load(); n != opens || up != (windows > 0) || len(r.Manifest.Left) != left {
				t.Errorf("opened %d times, %d windows, left out: %+v", n, windows, r.Manifest.Left)
			}
		})
	}
}
