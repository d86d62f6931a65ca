package answer

import (
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/record"
)

// Reasons that no effect has.

const saysNoWindow = "no window was measured"

func saysTwin(x record.Effect) string {
	return "the baseline differs from itself by " + quantity.Interval(x.Typical)
}
