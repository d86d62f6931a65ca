package gate

import (
	"fmt"
	"strings"

	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// Sentences of tare check for users, without its errors.
const (
	noFigure   = "no window of it counts"
	noInterval = "the interval is unknown"
	holdsLimit = "the interval holds the limit"
	noBlock    = "the run has no complete block"

	longerRun  = "a longer run (tare run --budget) has blocks to compare"
	stillRuns  = "the run goes on: check again when it has ended"
	unfinished = "the run did not come to its end: tare report says what it has"
)

func notJudged(question string) string {
	return fmt.Sprintf("undecided, as %s is not shown to exceed it", question)
}

func fewLaunches(launches int) string {
	return fmt.Sprintf("an answer needs %d launches of each arm, there are %d", metric.LeastLaunches, launches)
}

func directionUnknown(metric string) string {
	return fmt.Sprintf("this tare does not know whether more of %s is better", metric)
}

func notChecked(metric string) string { return "no effect on " + metric + ": not checked" }

// without says why a judgement has no cost.
func without(j record.Judgement) string {
	return fmt.Sprintf("%s of %s, %s: %s", j.Metric, j.Workload, j.Arm, j.Reason)
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
