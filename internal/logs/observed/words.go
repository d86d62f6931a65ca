package observed

import "fmt"

// All sentences of this package for users. The code that reads has none of its own (tools/sentences).

// Reasons for a missing value.
const (
	fewReports   = "fewer than four reports"
	equalReports = "all reports are equal"
	noTotal      = "the summary does not say it"
	noReport     = "no report on the way"
)

// Why a value is impossible.
const (
	negative = "is negative"
	tooLarge = "is more than can be (a counter that wrapped round?)"
)

func longerThanRun(seconds float64) string {
	return fmt.Sprintf("seconds is longer than the run of %.4g s", seconds)
}

func unlikeDone(done, seconds float64) string {
	return fmt.Sprintf("per second do not go with %.0f operations in %.4g s", done, seconds)
}

// The values that are impossible.
func oneValue(x float64, why string) string  { return fmt.Sprintf("%g %s", x, why) }
func ofAverage(x float64, why string) string { return fmt.Sprintf("%g on average %s", x, why) }
func someReports(n, of int, worst float64, why string) string {
	return fmt.Sprintf("%d of %d reports, as %g %s", n, of, worst, why)
}

// Warnings and their remedies.
const (
	lookAtLog    = "look at the log: the tool or its clock was wrong"
	lookForEnded = "look for a thread or job that ended early"
	findFailure  = "find out what failed before the figures are used"
)

func impossible(metric, what string) string {
	return fmt.Sprintf("%s cannot be true and does not count: %s", metric, what)
}

func unequalParts(least, most int) string {
	return fmt.Sprintf("the parts of this run have %d to %d reports: only as many as all have count", least, most)
}

func failures(n int, first string) string {
	return fmt.Sprintf("the tool reported %d failures, the first: %s", n, first)
}
