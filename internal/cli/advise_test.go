package cli

import (
	"testing"
	"time"
)

// The time of an advice is that of the flag, or some minutes for each load.
func TestAdviceBudget(t *testing.T) {
	for _, c := range []struct {
		given string
		loads int
		want  time.Duration
	}{{"", 1, 3 * time.Minute}, {"", 4, 12 * time.Minute}, {"", 0, 3 * time.Minute}, {"90s", 4, 90 * time.Second}} {
		a := adviseCommand{experimentFlags: experimentFlags{Budget: c.given}}
		if got, err := a.budgetFor(c.loads); err != nil || got != c.want {
			t.Errorf("%+v: %v, %v", c, got, err)
		}
	}
	if _, err := (&adviseCommand{experimentFlags: experimentFlags{Budget: "soon"}}).budgetFor(1); exitCode(err) != exitUsage {
		t.Errorf("a budget that is none: %v", err)
	}
}
