package analysis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarelab/tare/record"
)

// settled is how long after a pause what a quota costs is seen whole, in seconds: two
// periods of 100 ms, in which the kernel grants it.
const settled = 0.2

// settleTime is the check of an arm with a quota whose windows opened sooner, in a
// record of before tare knew of it, or by a discard: of the experiment. Nothing is said
// where they did not.
func (t *table) settleTime() []record.Checks {
	if t.pilot == nil || t.pilot.Discard >= settled {
		return nil
	}
	var out []record.Checks
	for _, name := range t.arms {
		if !quota(t.arm(name)) {
			continue
		}
		out = append(out, record.Checks{
			Kind: "settle time", Subject: name, Known: true,
			Text:   fmt.Sprintf("windows opened %.3g ms after a pause, in which what the quota grants had piled up: its loss is too small", 1000*t.pilot.Discard),
			Remedy: "measure it anew, without discard: in the experiment",
		})
	}
	return out
}

// quota says whether an arm is bounded in the CPU time or the I/O of a period.
func quota(a record.Arm) bool {
	return a.CPUs > 0 || slices.ContainsFunc(a.Isolation, func(s string) bool {
		name, _, _ := strings.Cut(s, "=")
		return name == "cpu.quota" || name == "io.max"
	})
}
