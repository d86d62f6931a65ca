package export

import (
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
	for _, r := range rows(e) {
		if err := Line(w, effectLine{r.kind, e.Experiment, e.Started, e.Host.Name, e.Seed, r.unit, r.Effect, number(r.arm), number(r.baseline)}); err != nil {
			return fmt.Errorf("write the effects as JSON lines: %w", err)
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
