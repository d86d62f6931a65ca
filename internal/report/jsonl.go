package report

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/tarelab/tare/record"
)

// effectLine is one line of JSON lines: an effect with what is needed to
// understand it alone.
type effectLine struct {
	Kind       string `json:"kind"` // effect, step, remainder, twin
	Experiment string `json:"experiment"`
	Started    string `json:"started"`
	Host       string `json:"host"`
	Seed       uint64 `json:"seed"`
	Unit       string `json:"unit"` // of the two values
	record.Effect
	ArmValue      *float64 `json:"arm_value"`      // null when not known
	BaselineValue *float64 `json:"baseline_value"` // null when not known
}

// JSONLines prints one JSON object per effect, step, remainder and twin, each
// on a line of its own, in the order and the units of CSV.
func JSONLines(w io.Writer, e *record.Effects) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	values := armValues(e)
	for _, list := range []struct {
		kind    string
		effects []record.Effect
	}{{"effect", e.Effects}, {"step", e.Steps}, {"remainder", e.Remainder}, {"twin", e.Twin}} {
		for _, x := range list.effects {
			line := effectLine{
				Kind: list.kind, Experiment: e.Experiment, Started: e.Started, Host: e.Host.Name, Seed: e.Seed,
				Unit: baseUnit(e, x), Effect: x,
				ArmValue:      number(values[armMetric{x.Workload, x.Arm, x.Metric}]),
				BaselineValue: number(values[armMetric{x.Workload, x.Baseline, x.Metric}]),
			}
			if err := enc.Encode(line); err != nil {
				return fmt.Errorf("write the effects as JSON lines: %w", err)
			}
		}
	}
	return nil
}

func number(v record.Value) *float64 {
	if x, ok := v.Get(); ok {
		return &x
	}
	return nil
}
