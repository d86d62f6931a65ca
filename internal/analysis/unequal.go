package analysis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarelab/tare/record"
)

// unequalTo says in what two arms differ in what they keep, by what is known of
// both against the baseline; empty: in nothing.
func (c *compared) unequalTo(arm, base string) string {
	mine, theirs := differences(c.unequal, c.load.Name, arm), differences(c.unequal, c.load.Name, base)
	if slices.Equal(mine, theirs) {
		return ""
	}
	if len(mine) == 0 {
		mine = theirs
	}
	return strings.Join(mine, "; ")
}

func differences(all []record.Unequal, load, arm string) []string {
	for _, u := range all {
		if u.Workload == load && u.Arm == arm {
			return u.Differences
		}
	}
	return nil
}

// unequalWarnings tell of the arms that are compared although they are not
// equal.
func unequalWarnings(all []record.Unequal, load string) (out []record.Warning) {
	for _, u := range all {
		if u.Workload != load {
			continue
		}
		out = append(out, record.Warning{
			Workload: load, Arm: u.Arm,
			Text:   fmt.Sprintf("unequal: %s", strings.Join(u.Differences, "; ")),
			Remedy: "what it gains is not speed: read its results as the price of keeping what was committed",
		})
	}
	return out
}
