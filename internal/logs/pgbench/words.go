package pgbench

import "github.com/tarelab/tare/record"

// All sentences of this package for users. The code that reads has none of its own (tools/sentences).

// transactionLog is what parseLog reads.
const transactionLog = "pgbench's transaction log"

// Names of settings.
const (
	queryMode     = "query mode"
	latencyLimit  = "latency limit in s"
	rateLimit     = "rate limit"
	connectionFor = "connection for each transaction"
)

// The meanings of a rate.
const (
	without = "without the time for connections"
	with    = "with the time for connections"
)

// Errors: why tare does not pass an option on.
const (
	setScale       = "set scale"
	setClients     = "set clients"
	setThreads     = "set threads"
	setMode        = "set mode"
	setScript      = "set script"
	preparesData   = "tare prepares the data set"
	decidesHowLong = "tare decides how long it runs"
	madeUpFor      = "its schedule goes on while it is paused, and would be made up for"
	readsLog       = "tare reads the log itself"
	countsEvery    = "tare counts every transaction"
	connections    = "the connections would be measured and not the queries"
	makesServer    = "tare makes the server"
	makesItsOwn    = "tare makes its own"
	setsIt         = "tare sets it"
	floodsLog      = "it would flood the log"
	doesNotRun     = "it would not run"
)

// Warnings and their remedies.
var (
	brokenLines     = record.Say("progress_lines_joined")
	impossibleLine  = record.Say("progress_line_impossible")
	lookAtLog       = record.Say("pgbench_or_clock_wrong")
	stoppedOrCut    = record.Say("only_progress_lines")
	cutNumber       = record.Say("number_cut")
	stillWritten    = record.Say("log_cut_or_written")
	fileEach        = record.Say("file_for_each_run")
	aborted         = record.Say("pgbench_aborted")
	seeAbove        = record.Say("see_errors_above")
	checkFigures    = record.Say("check_against_output")
	notInOrder      = record.Say("transactions_unordered")
	filesOfThreads  = record.Say("files_of_threads")
	strangeLogEntry = record.Say("no_transaction")
)

func noSummary(line int) record.Said { return record.Say("summary_missing", "line", line) }

func timeGoesBack(from, to float64) record.Said {
	return record.Say("time_goes_back", "from", from, "to", to)
}

func unknownVersion(version string) record.Said {
	return record.Say("unknown_version", "tool", "pgbench", "version", version, "known", "18")
}

func checkFile(line []byte) record.Said { return record.Say("check_file", "line", string(line)) }
