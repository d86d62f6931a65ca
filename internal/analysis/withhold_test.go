package analysis

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/record"
)

// Where the interval is too wide to be shown, effects.json has null and a reason.
func TestWithheld(t *testing.T) {
	est := stat.Estimate{Mean: -0.56, SE: 0.5, DF: 9}
	for half, withheld := range map[float64]bool{2: true, 0.2: false} {
		i := stat.Interval{Lo: est.Mean - half, Hi: est.Mean + half}
		r := ruling{est: est, sides: sides{i, i}, total: sides{i, i}, own: i, bound: i, p: 0.49, adjusted: 0.5, reason: noiseTooLarge, proof: enoughRuns}
		var e record.Effect
		r.fill(&e, est)
		b, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		for _, null := range []string{`"typical":null`, `"total":null`, `"own":null`, `"p_value":null`, `"p_adjusted":null`} {
			if strings.Contains(string(b), null) != withheld {
				t.Errorf("±%g: %s in %s", half, null, b)
			}
		}
		if strings.Contains(string(b), "bound") == withheld || !strings.Contains(string(b), noiseTooLarge.Code) {
			t.Errorf("±%g: %s", half, b)
		}
	}
}
