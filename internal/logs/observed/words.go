package observed

import "github.com/tarelab/tare/record"

// All sentences of this package for users. The code that reads has none of its own (tools/sentences).

// Reasons for a missing value.
var (
	fewReports   = record.Say("fewer_than_four_reports")
	equalReports = record.Say("reports_equal")
	noTotal      = record.Say("not_in_summary")
	noReport     = record.Say("no_report_on_way")
)

// Why a value is impossible.
var (
	negative = record.Say("is_negative")
	tooLarge = record.Say("is_too_large")
)

func longerThanRun(seconds float64) record.Said {
	return record.Say("longer_than_run", "seconds", seconds)
}

func unlikeDone(done, seconds float64) record.Said {
	return record.Say("unlike_done", "done", done, "seconds", seconds)
}

// The values that are impossible.
func oneValue(x float64, why record.Said) record.Said {
	return record.Say("impossible_value", "value", x, "why", why)
}
func ofAverage(x float64, why record.Said) record.Said {
	return record.Say("impossible_mean", "value", x, "why", why)
}
func someReports(n, of int, worst float64, why record.Said) record.Said {
	return record.Say("impossible_reports", "n", n, "of", of, "value", worst, "why", why)
}

// Warnings and their remedies.
var (
	lookAtLog    = record.Say("clock_or_tool_wrong")
	lookForEnded = record.Say("look_for_ended_part")
	findFailure  = record.Say("find_failure")
)

func impossible(metric string, what record.Said) record.Said {
	return record.Say("impossible_figure", "metric", metric, "why", what)
}

func unequalParts(least, most int) record.Said {
	return record.Say("unequal_parts", "least", least, "most", most)
}

func failures(n int, first string) record.Said {
	return record.Say("tool_failures", "n", n, "text", first)
}
