package hyperfine

import "github.com/tarelab/tare/record"

// All sentences of this package for users. The code that reads has none of its own (tools/sentences).

// Warnings and their remedies.
var (
	screenText   = record.Say("screen_text")
	exportJSON   = record.Say("export_json")
	zeroTimes    = record.Say("times_of_zero")
	withoutShell = record.Say("without_shell")
	runsFailed   = record.Say("command_runs_failed")
	seeExitCodes = record.Say("see_exit_codes")
	findFailure  = record.Say("find_failure")
)

func failedRuns(failed, runs int, command string) record.Said {
	return record.Say("runs_failed", "failed", failed, "runs", runs, "command", command)
}

// noColumns is an error.
const noColumns = "the columns command and mean of hyperfine are not there"
