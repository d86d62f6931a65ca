package cli

import (
	"strings"

	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/record"
)

// Words of tare advise. Sentences about an advice itself are in the catalogue of messages.

// Errors: longer is the hint about a stage that is too short.
const longer = "a longer --budget, or one load: --workload NAME"

// Reasons why a remedy was not tried or not proved.
var (
	adviceOnNode = record.Say("advice_on_node")
	otherVersion = record.Say("experiment_of_other_version")
	noRemedy     = record.Say("no_remedy_known")
	noCause      = record.Say("no_cause_found")
	ofItself     = record.Say("slower_by_own_settings")
	noneHere     = record.Say("no_remedy_here")
	noneHelped   = record.Say("no_remedy_faster")
	noTime       = record.Say("no_time_for_remedy")
	notAgain     = record.Say("gain_not_again")
	tooLittle    = record.Say("no_room_for_candidates")
	moreBudget   = record.Say("longer_budget")
	isProtected  = record.Say("arm_isolated")
)

func otherHost(differences string) record.Said {
	return record.Say("result_of_other_host", "differences", differences)
}

// shortAdvice is the error of a budget that is too short.
func shortAdvice(budget, least string) string {
	return "budget " + budget + " is too short for an advice: want at least " + least
}

// contradicting is the reason why stages whose losses have nothing in common decide nothing.
func contradicting(stage string, lost record.Ratio, other string, otherLost record.Ratio) record.Said {
	return record.Say("stages_contradict", "stage", stage, "lost", lost, "other_stage", other, "other_lost", otherLost)
}

// stages has the name of each stage but the first one.
var stages = map[record.StageKind]messages.Key{
	record.StageCandidates: "advise.step.candidates", record.StageTogether: "advise.step.together", record.StageProof: "advise.step.proof",
}

// aboutMore is the reason of an undecided remedy.
func aboutMore(remedies []string, s record.Says) record.Said {
	name := strings.Join(remedies, " + ")
	switch {
	case s.Seconds > 0:
		return record.Say("more_decides", "remedies", name, "seconds", s.Seconds)
	case !s.Reason.IsZero():
		return record.Say("of_arm", "arm", name, "why", s.Reason)
	}
	return record.InProse(name)
}
