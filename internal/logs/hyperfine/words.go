package hyperfine

import "fmt"

// All sentences of this package for users. The code that reads has none of its own (tools/sentences).

// Warnings and their remedies.
const (
	screenText   = "this is what hyperfine shows on the screen; it was not read"
	exportJSON   = "export the figures: hyperfine --export-json FILE"
	zeroTimes    = "times of 0: the command is shorter than the time of the shell that hyperfine subtracts"
	withoutShell = "repeat with --shell=none (-N); such times are missing here"
	runsFailed   = "runs of a command ended with an error"
	seeExitCodes = "see its exit codes"
	findFailure  = "find out what failed before the figures are used"
)

func failedRuns(failed, runs int, command string) string {
	return fmt.Sprintf("%d of %d runs of %q failed", failed, runs, command)
}

// noColumns is an error.
const noColumns = "the columns command and mean of hyperfine are not there"
