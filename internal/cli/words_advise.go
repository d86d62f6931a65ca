package cli

import (
	"strings"

	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/record"
)

// Words of tare advise. Sentences about an advice itself are in the catalogue of messages.

// Errors: longer is the hint about a stage that is too short.
const longer = "a longer --budget, or one load: --workload NAME"

// shortAdvice is the error of a budget that is too short.
func shortAdvice(budget, least string) string {
	return "budget " + budget + " is too short for an advice: want at least " + least
}

// stages has the name of each stage but the first one.
var stages = map[record.StageKind]messages.Key{
	record.StageCandidates: "advise.step.candidates", record.StageTogether: "advise.step.together", record.StageProof: "advise.step.proof",
}

// aboutMore is the reason of an undecided remedy.
func aboutMore(remedies []string, s record.Says) record.Said {
	names := strings.Join(remedies, " + ")
	switch {
	case s.Seconds > 0:
		return record.Say("remedies_undecided", "remedies", names, "seconds", s.Seconds)
	case !s.Reason.IsZero():
		return record.Say("remedies_because", "remedies", names, "reason", s.Reason)
	}
	return record.InProse(names)
}
