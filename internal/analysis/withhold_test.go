package analysis

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tarelab/tare/record"
)

// Where the interval is too wide to be shown, effects.json has null and a reason.
func TestWithheld(t *testing.T) {
	ratio := &record.Ratio{Ratio: 0.57, Low: 0.5, High: 0.64}
	e := record.Effect{Workload: "a", Arm: "container", Total: ratio, Own: ratio, Bound: ratio, P: new(0.49), Adjusted: new(0.5),
		Detectable: 49790, Reason: "the noise is larger than any effect that could be shown"}
	withhold(&e)
	b, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"typical":null`, `"total":null`, `"own":null`, `"p_value":null`, `"p_adjusted":null`, e.Reason} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %s in %s", want, b)
		}
	}
	for _, not := range []string{"0.57", "0.49", "49790", "bound"} {
		if strings.Contains(string(b), not) {
			t.Errorf("%s in %s", not, b)
		}
	}
	e = record.Effect{Typical: ratio, Total: ratio, Own: ratio, P: new(0.01)}
	if withhold(&e); e.Total == nil || e.Own == nil || e.P == nil {
		t.Errorf("%+v", e)
	}
}
