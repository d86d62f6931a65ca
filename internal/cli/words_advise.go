package cli

import (
	"strings"

	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/record"
)

// Words of tare advise. Sentences about an advice itself are in the catalogue of messages.

// Errors: longer is the hint about a stage that is too short.
const longer = "a longer --budget, or one load: --workload NAME"

// Reasons why a remedy was not tried or not proved.
const (
	adviceOnNode = "the arms are on another node, where tare cannot try a remedy"
	otherVersion = "the experiment of the result is not one of this version of tare"
	noRemedy     = "tare knows no remedy for these causes"
	noCause      = "no cause is found that a remedy could be for"
	ofItself     = "the load is slower by its own settings, and not by those of host, container or neighbour"
	noneHere     = "this host can have none of the remedies"
	noneHelped   = "every remedy that this host can have was measured, and none is faster"
	noTime       = "no time is left to try a remedy"
	notAgain     = "fresh launches did not show the gain"
	tooLittle    = "the time has no room for more candidates"
	moreBudget   = "a longer --budget"
	isProtected  = "it has isolation, and tare advise looks for what helps without"
)

func otherHost(differences string) string {
	return "the result is of another host: " + differences
}

// shortAdvice is the error of a budget that is too short.
func shortAdvice(budget, least string) string {
	return "budget " + budget + " is too short for an advice: want at least " + least
}

// contradicting is the reason why stages whose losses have nothing in common decide nothing.
func contradicting(stage, lost, other, otherLost string) string {
	return "the stages contradict each other: the loss is " + lost + " in " + stage + " and " + otherLost + " in " + other
}

// stages has the name of each stage but the first one.
var stages = map[record.StageKind]messages.Key{
	record.StageCandidates: "advise.step.candidates", record.StageTogether: "advise.step.together", record.StageProof: "advise.step.proof",
}

// aboutMore is the reason of an undecided remedy.
func aboutMore(remedies []string, s record.Says) string {
	name := strings.Join(remedies, " + ")
	switch {
	case s.Seconds > 0:
		return name + ": about " + quantity.About(s.Seconds) + " more would decide"
	case !s.Reason.IsZero():
		return name + ": " + said.English(s.Reason)
	}
	return name
}
