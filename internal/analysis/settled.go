package analysis

import (
	"fmt"
	"strings"

	"github.com/tarelab/tare/record"
)

// settled is how long after a pause what a quota costs is seen whole, in seconds: two
// periods of 100 ms, in which the kernel grants it.
const settled = 0.2

// settleTime is the check of an arm with a limit of CPU time whose windows opened sooner:
// in a record from before tare knew of it, or by the experiment's discard:. Nothing is
// said where they did not, and of a load that runs anew in each window.
func (t *table) settleTime() []record.Checks {
	if t.pilot == nil || t.pilot.Discard == 0 || t.pilot.Discard >= settled {
		return nil
	}
	var out []record.Checks
	for _, name := range t.arms {
		if a := t.arm(name); !limited(a) || a.Twin || name == t.load.Baseline {
			continue
		}
		out = append(out, record.Checks{
			Kind: "settle time", Subject: name, Known: true,
			Text:   fmt.Sprintf("windows opened %.3g ms after a pause, in which what the limit grants had piled up: its loss is too small", 1000*t.pilot.Discard),
			Remedy: "measure it anew, without discard: in the experiment",
		})
	}
	return out
}

// limited says whether an arm has a limit of CPU time. A Guaranteed pod always has one.
func limited(a record.Arm) bool {
	return a.CPUs > 0 || a.Pod && strings.HasPrefix(a.Environment, "guaranteed")
}

// settledSince says whether a pilot begins what is settled where what was measured before
// it was not.
func (t *table) settledSince(p *record.Pilot) bool {
	if t.pilot == nil || t.pilot.Discard >= settled || p.Discard < settled {
		return false
	}
	for _, name := range t.arms {
		if limited(t.arm(name)) {
			return true
		}
	}
	return false
}
