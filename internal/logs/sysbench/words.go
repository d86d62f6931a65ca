package sysbench

import "fmt"

// All sentences of this package for users. The code that reads has none of its own (tools/sentences).

// Names of settings.
const (
	primeLimit = "prime limit"
	blockSize  = "block size"
	fileFlags  = "file flags"
	fsyncEvery = "fsync every"
	oltpTest   = "OLTP test"
)

// filesOf is the value of the setting files.
func filesOf(n, size string) string { return n + " of " + size }

// Errors: why tare does not pass an option on.
const (
	setThreads     = "set threads"
	setRate        = "set rate"
	setTables      = "set tables"
	setSize        = "set size"
	setRandType    = "set rand_type"
	setService     = "set service"
	setConnect     = "set connect"
	setCount       = "set count"
	decidesHowLong = "tare decides how long it runs"
	warmsUp        = "tare warms up by itself"
	endsIt         = "tare ends it"
	holdsPassword  = "it would replace the one that holds the password"
	makesItsOwn    = "tare makes its own"
	everybodyReads = "arguments can be read by every user of the host"
	everySecond    = "it is 1 s"
	slicesRun      = "tare slices the run"
	doesNotRun     = "it would not run"
)

// Warnings and their remedies.
const (
	checkFigures    = "check the figures against the log"
	cutNumber       = "the last line is cut off inside a number; it was not read"
	stillWritten    = "the log was cut or is still being written"
	noThread        = "report lines without a running thread were not read"
	fileEach        = "give each run a file of its own"
	stoppedOrCut    = "the run was stopped or the log is cut; only its report lines count"
	sinceCheckpoint = "the run's summary counts only since its last checkpoint report"
	useReportLines  = "use its report lines for the whole run"
	behindOther     = "report lines behind a prefix that the other lines do not have were not read"
	takeAway        = "take it away"
	openBin         = "percentiles are longer than 100 s, where sysbench's histogram ends: how long is unknown"
	takeMean        = "compare the mean or the maximum"
	brokenLines     = "report lines that were broken into several were put together"
	unknownLine     = "this looks like a report line of an unknown version; it was not read"
)

func unknownVersion(version string) string {
	return "sysbench " + version + " is not a version that is known; it was read like 1.1"
}

func timeGoesBack(from, to float64) string {
	return fmt.Sprintf("the time goes back from %g s to %g s: taken as another run", from, to)
}

func noSummary(line int) string {
	return fmt.Sprintf("the summary of the run that begins in line %d is missing or incomplete", line)
}

func checkLine(line []byte) string { return "check the line: " + string(line) }
