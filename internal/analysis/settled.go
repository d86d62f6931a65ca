package analysis

import (
	"strings"

	"github.com/tarelab/tare/record"
)

// settled is the time in seconds after a pause from which a quota has its full effect: two
// periods of 100 ms, by which the kernel grants CPU time.
const settled = 0.2

// settleTime returns a failed check for each arm with a CPU limit whose windows opened before
// settled: in records of older versions, or by discard: of the experiment. It returns none
// where windows opened later, and for a load that is started anew in each window.
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
			Text:   settledSoon(t.pilot.Discard),
			Remedy: settledSoonRemedy,
		})
	}
	return out
}

// limited reports whether an arm has a CPU limit. A Guaranteed pod always has one.
func limited(a record.Arm) bool {
	return a.CPUs > 0 || a.Pod && strings.HasPrefix(a.Environment, "guaranteed")
}

// settledSince reports whether windows after this pilot are settled and those before it are
// not.
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
