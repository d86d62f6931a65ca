package cli

import (
	"fmt"

	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/record"
)

// Words of tare advise. Sentences about an advice itself are in the catalogue of messages.

// longer is the hint about a stage that is too short.
const longer = "a longer --budget, or one load: --workload NAME"

// Reasons why a remedy was not tried or not proved.
const (
	adviceOnNode = "the arms are on another node, where tare cannot try a remedy"
	otherVersion = "the experiment of the result is not one of this version of tare"
	noRemedy     = "tare knows no remedy for these causes"
	ofItself     = "the load is slower by itself: no setting of host, container or neighbour is the cause"
	noneHere     = "this host can have none of the remedies"
	noneHelped   = "every remedy that this host can have was measured, and none is faster"
	notAgain     = "fresh launches did not show the gain"
	tooLittle    = "the time has no room for more candidates"
	moreBudget   = "a longer --budget"
)

func otherHost(differences string) string {
	return "the result is of another host: " + differences
}

// shortAdvice is the error of a budget that is too short.
func shortAdvice(budget, least string) string {
	return "budget " + budget + " is too short for an advice: want at least " + least
}

// stageLine announces a stage.
func stageLine(kind record.StageKind, load, arms string) string {
	what := map[record.StageKind]string{record.StageCandidates: "candidates", record.StageTogether: "the best two together", record.StageProof: "proof, with fresh launches"}[kind]
	return fmt.Sprintf("%s: %s: %s", load, what, arms)
}

// aboutMore is the reason of an undecided remedy.
func aboutMore(name string, s record.Says) string {
	switch {
	case s.Seconds > 0:
		return name + ": about " + quantity.About(s.Seconds) + " more would decide"
	case s.Reason != "":
		return name + ": " + s.Reason
	}
	return name
}
