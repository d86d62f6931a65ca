package pgbench

import "fmt"

// All sentences of this package for users. The code that reads has none of its own (tools/sentences).

// transactionLog is what ParseLog reads.
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
const (
	brokenLines     = "progress lines that were broken into several were put together"
	impossibleLine  = "a progress line has an impossible figure; the line does not count"
	lookAtLog       = "look at the log: pgbench or its clock was wrong"
	stoppedOrCut    = "the run was stopped or the log is cut; only its progress lines count"
	cutNumber       = "the last line is cut off inside a number; it was not read"
	stillWritten    = "the log was cut or is still being written"
	fileEach        = "give each run a file of its own"
	aborted         = "pgbench says that this run was aborted and its results are incomplete"
	seeAbove        = "see the error messages above it; repeat the run"
	checkFigures    = "check the figures against the output"
	notInOrder      = "transactions are not in order of time; late ones were counted when they came"
	filesOfThreads  = "with several threads pgbench writes a file for each: name them as they are, they are added up"
	strangeLogEntry = "this line is not of the log; it and others like it were not read"
)

func noSummary(line int) string {
	return fmt.Sprintf("the summary of the run that begins in line %d is missing or incomplete", line)
}

func timeGoesBack(from, to float64) string {
	return fmt.Sprintf("the time goes back from %g s to %g s: taken as another run", from, to)
}

func unknownVersion(version string) string {
	return "pgbench " + version + " is not a version that is known; it was read like 18"
}

func checkFile(line []byte) string { return fmt.Sprintf("check the file: %q", line) }
