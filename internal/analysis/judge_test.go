package analysis

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/record"
)

// Effects of any width can be written: JSON cannot write infinity, and one infinite number would
// fail the whole report.
func TestWideIsWritten(t *testing.T) {
	for _, half := range []float64{0.1, 600, 1e300, math.Inf(1), math.NaN()} {
		i := stat.Interval{Lo: -half, Hi: half}
		r := ruling{est: stat.Estimate{Mean: 0, SE: half, DF: 1}, sides: sides{i, i}, total: sides{i, i}, own: i, p: 1, adjusted: 1}
		var e record.Effect
		r.fill(&e, r.est)
		if _, err := json.Marshal(e); err != nil {
			t.Errorf("±%g: %v", half, err)
		}
		if half == 0.1 && !(e.Detectable > 0.1) {
			t.Errorf("±%g: %g can be detected", half, e.Detectable)
		}
	}
}
