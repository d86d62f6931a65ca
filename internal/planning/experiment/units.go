package experiment

import (
	"fmt"
	"github.com/tarelab/tare/internal/base/quantity"
	"math"
	"strconv"
	"strings"
	"time"
)

// ParseDuration reads a duration with its unit: 200ms, 90s, 3m, 1h30m.
func ParseDuration(text string) (time.Duration, error) {
	if d, err := time.ParseDuration(text); err == nil && text != "0" {
		return d, nil
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return 0, fmt.Errorf("%s has no unit; write %ss for seconds", text, text)
	}
	return 0, fmt.Errorf("%q is not a duration; write 200ms, 90s, 3m or 1h30m", text)
}

// formatDuration writes the shortest text that ParseDuration reads as the same duration.
func formatDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// BudgetFlag is the flag with a budget of so many seconds, rounded up.
func BudgetFlag(seconds float64) string {
	return "--budget " + formatDuration(time.Duration(quantity.RoundedUp(seconds))*time.Second)
}

// ParseRatio reads a percentage or a ratio: 1% and 0.01 are the same.
func ParseRatio(text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	number = strings.TrimSpace(number)
	if percent {
		number += "e-2" // makes 0.7% exactly 0.007; 0.7/100 differs in the last bit
	}
	x, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, fmt.Errorf("%q is neither a percentage nor a ratio; write 1%% or 0.01", text)
	}
	return x, nil
}

// formatRatio writes a percentage where that is short and exact, else a ratio.
func formatRatio(x float64) string {
	s := strconv.FormatFloat(x*100, 'g', 12, 64) + "%"
	if back, err := ParseRatio(s); err == nil && back == x && len(s) < 8 {
		return s
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}
