package cli

import (
	"github.com/tarelab/tare/internal/analysis/calibrate"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/record"
)

// lastCalibration is the answer of this host's last calibration; nil: there is none, or it found
// no smallest loss.
func lastCalibration(host record.Host) (*record.Calibrated, error) {
	a, err := calibrate.Last(journal.StateDir(), host)
	if err != nil || a == nil || len(a.Smallest) == 0 {
		return nil, err
	}
	return &record.Calibrated{Started: a.Started, Kernel: a.Host.Kernel, Covered: a.Covered, FalsePositives: a.FalsePositives, Smallest: a.Smallest}, nil
}
