package cause

import (
	"strings"

	"github.com/tarelab/tare/record"
)

// What would tell causes apart, for users.

var moreTime = record.Say("longer_run")

// oneAlone names the factors of which arms should differ from the baseline in one alone.
func oneAlone(factors []string) record.Said {
	return record.Say("one_alone", "names", factors)
}

// layersAlone is about an environment.
func layersAlone(environment string) record.Said {
	name, _, _ := strings.Cut(environment, ":")
	return record.Say("layers_alone", "environment", name)
}

// armsWith are arms with mechanisms of isolation.
func armsWith(mechanisms []string) record.Said { return record.Say("arms_with", "names", mechanisms) }
