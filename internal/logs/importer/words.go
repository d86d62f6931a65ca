package importer

import (
	"fmt"

	"github.com/tarelab/tare/record"
)

// All sentences of this package for users, but for its errors in usage. The code that reads has none of
// its own (tools/sentences).

// Names of tools without a reader that are no name of a program.
const (
	wrkOrWrk2      = "wrk or wrk2"
	dbenchOfSamba  = "dbench of Samba"
	etcdCheckPerf  = "etcd check perf"
	etcdMetrics    = "etcd (its metrics)"
	apacheBench    = "ab (ApacheBench)"
	aggregatedLogs = "pgbench --aggregate-interval"
)

// Names of settings that tell loads apart.
const (
	queriesEach = "queries per transaction"
	writesEach  = "writes per transaction"
)

// Errors about a file and their remedies.
const (
	emptyFile    = "the file is empty"
	checkWritten = "check that the benchmark's output was really written to it"
	writeTable   = "write its figures into a table with the columns arm, tps and p95 (ms), as CSV or Markdown: such a table is read"
	noFigure     = "there is no figure in it"
	checkEnded   = "check that the benchmark ran to its end"
	isDirectory  = "this is a directory"
	nameFiles    = "name the files in it, as DIR/*.log"
	idleFIFO     = "this is a FIFO into which nobody writes"
	startWriter  = "start first what writes into it"
)

// Logs with a line for each request.
const (
	gatlingRequests = "Gatling (a log of single requests)"
	heyRequests     = "hey (a log of single requests)"
	k6Requests      = "k6 (a log of single requests)"
	abRequests      = "ab (a log of single requests)"
)

func notRead(tool, why string) string {
	return fmt.Sprintf("this is the output of %s, which is not read (%s)", tool, why)
}

func unknownFormat(why string) string { return "no known format: " + why }

func areRead(tools string) string { return tools + " are read; --kind says which it is" }

// Errors: perhapsTable says why a file whose first line looks like the names of columns is no table.
func perhapsTable(err error) string {
	return "the first line could be the heading of a table, and " + err.Error()
}

// Errors: noFigureAs says why there is no figure.
func noFigureAs(warning string) string { return noFigure + ": " + warning }

// Places of warnings.
func inFile(path string, text record.Said) record.Said {
	return record.Say("in_file", "file", path, "text", text)
}
func inFiles(first string, more int, text record.Said) record.Said {
	return record.Say("in_files", "file", first, "more", more, "text", text)
}
func inLine(path string, line int, text record.Said) record.Said {
	return record.Say("in_line", "file", path, "line", line, "text", text)
}

// Warnings and their remedies.
var (
	callRuns = record.Say("call_runs_or_split")
	ownFiles = record.Say("files_of_repeats")
	sameLoad = record.Say("name_same_load")
)

// differentLoads lists the words in which the headings of reports differ.
func differentLoads(names []string) record.Said {
	return record.Say("headings_differ", "names", names)
}

// withoutWords stands for the words of a report that has none of its own.
const withoutWords = "(none)"

func filesOfOneRun(more int) record.Said { return record.Say("files_added_up", "more", more) }

func noRunIn(arm string) record.Said { return record.Say("no_run_of_load", "arm", arm) }

// noOtherRun is about the baseline.
func noOtherRun() record.Said { return record.Say("no_other_run_of_load") }

// numberedApart says why reports under numbered headings are no repeats.
func numberedApart(least, most float64, names []string) record.Said {
	return record.Say("numbered_reports_differ", "least", least, "most", most, "names", names)
}

// rowsUncompared and runsUncompared say what of a file has no partner.
func rowsUncompared(n, of int, names []string) record.Said {
	return record.Say("rows_uncompared", "n", n, "of", of, "names", names)
}

func runsUncompared(n, of int, names []string) record.Said {
	return record.Say("runs_uncompared", "n", n, "of", of, "names", names)
}
