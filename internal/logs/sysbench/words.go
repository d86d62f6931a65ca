package sysbench

import "github.com/tarelab/tare/record"

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
var (
	checkFigures    = record.Say("check_against_log")
	cutNumber       = record.Say("number_cut")
	stillWritten    = record.Say("log_cut_or_written")
	noThread        = record.Say("lines_without_thread")
	fileEach        = record.Say("file_for_each_run")
	stoppedOrCut    = record.Say("only_report_lines")
	sinceCheckpoint = record.Say("summary_since_checkpoint")
	useReportLines  = record.Say("use_report_lines")
	behindOther     = record.Say("lines_behind_prefix")
	takeAway        = record.Say("take_prefix_away")
	openBin         = record.Say("beyond_sysbench_histogram")
	takeMean        = record.Say("compare_mean_or_maximum")
	brokenLines     = record.Say("report_lines_joined")
	unknownLine     = record.Say("unknown_report_line")
)

func unknownVersion(version string) record.Said {
	return record.Say("unknown_version", "tool", "sysbench", "version", version, "known", "1.1")
}

func timeGoesBack(from, to float64) record.Said {
	return record.Say("time_goes_back", "from", from, "to", to)
}

func noSummary(line int) record.Said { return record.Say("summary_missing", "line", line) }

func checkLine(line []byte) record.Said { return record.Say("check_line", "line", string(line)) }
