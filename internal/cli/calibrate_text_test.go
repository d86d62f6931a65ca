package cli

import (
	"testing"
	"time"

	"github.com/tarelab/tare/internal/analysis/calibrate"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/record"
)

// The record of a run begins with the last calibration of its own host, and of no
// other.
func TestLastCalibration(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	here := record.Host{Name: "vm", Kernel: "6.1", CPUs: 2}
	noon := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	a := &record.Calibration{Schema: record.CalibrationSchema, Started: noon, Host: here, Smallest: []record.SmallestLoss{{Seconds: 600, Loss: 0.012}}}
	a.Covered.Count, a.Covered.Of = 19, 20
	if err := calibrate.Keep(journal.StateDir(), a); err != nil {
		t.Fatal(err)
	}
	newer, other := here, here
	newer.Kernel, other.Name = "6.12", "b"
	for _, c := range []struct {
		host record.Host
		want bool
	}{{here, true}, {newer, true}, {other, false}} {
		got, err := lastCalibration(c.host)
		if err != nil || (got != nil) != c.want {
			t.Errorf("%s, kernel %s: %+v, %v", c.host.Name, c.host.Kernel, got, err)
		}
		if got != nil && (got.Kernel != "6.1" || got.Covered != a.Covered || len(got.Smallest) != 1 || !got.Started.Equal(noon)) {
			t.Errorf("%+v", got)
		}
	}
}
