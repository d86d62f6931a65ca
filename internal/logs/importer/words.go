package importer

import (
	"fmt"
	"strings"
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

// singleRequests names a log with a line for each request.
func singleRequests(tool string) string { return tool + " (a log of single requests)" }

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
func inFile(path, text string) string { return path + ": " + text }
func inFiles(first string, more int, text string) string {
	return fmt.Sprintf("%s and %d more: %s", first, more, text)
}
func inLine(path string, line int, text string) string {
	return fmt.Sprintf("%s, line %d: %s", path, line, text)
}

// Warnings and their remedies.
const (
	callRuns = "where they are repeats, call them run 1, run 2 ...; where they are arms, write each to a file: tare import A=a.log B=b.log"
	ownFiles = "where they are repeats, write each to a file of its own"
	sameLoad = "name files of the same tool and the same load for each arm"
)

// differentLoads lists the words in which the headings of reports differ.
func differentLoads(names []string) string {
	return "the reports differ in the headings above them, so they are different loads and no repeats: " + strings.Join(names, "; ")
}

// withoutWords stands for the words of a report that has none of its own.
const withoutWords = "(none)"

func filesOfOneRun(more int) string {
	return fmt.Sprintf("this and %d more files are of the threads or jobs of one run: they were added up", more)
}

// anyOther is the arm that is missing beside the baseline.
const anyOther = "any other arm"

func noRunIn(arm string) string { return "there is no run of this load in " + arm }

// numberedApart says why reports under numbered headings are no repeats.
func numberedApart(least, most float64, names []string) string {
	return fmt.Sprintf("the reports under numbered headings are from %.4g to %.4g, so they are different loads and no repeats: %s", least, most, strings.Join(names, ", "))
}

// rowsUncompared and runsUncompared say what of a file has no partner.
func rowsUncompared(n, of int, names []string) string {
	return fmt.Sprintf("%d of %d rows are in no comparison: %s", n, of, strings.Join(names, "; "))
}

func runsUncompared(n, of int, names []string) string {
	return fmt.Sprintf("%d of %d runs are in no comparison: %s", n, of, strings.Join(names, "; "))
}
