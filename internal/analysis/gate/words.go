package gate

import (
	"fmt"
	"strings"

	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/record"
)

// Sentences of tare check for users, without its errors.
const (
	noBlock = "the run has no complete block"

	longerRun  = "a longer run (tare run --budget) has blocks to compare"
	stillRuns  = "the run goes on: check again when it has ended"
	unfinished = "the run did not come to its end: tare report says what it has"
)

// without says why a judgement has no cost.
func without(j record.Judgement) string {
	return fmt.Sprintf("%s of %s, %s: %s", j.Metric, j.Workload, j.Arm, said.English(j.Reason))
}

// anyOf joins the metrics of limits.
func anyOf(limits []record.Limit) string {
	var names []string
	for _, l := range limits {
		names = append(names, l.Metric)
	}
	return strings.Join(names, " or ")
}

func ofArms(arms []string) string {
	if len(arms) == 0 {
		return ""
	}
	return " in the arms " + strings.Join(arms, ", ")
}
