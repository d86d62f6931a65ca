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

func notRead(tool, why string) string {
	return fmt.Sprintf("this is the output of %s, which is not read (%s)", tool, why)
}

func unknownFormat(why string) string { return "no known format: " + why }

func areRead(tools string) string { return tools + " are read; --kind says which it is" }

// perhapsTable says why a file whose first line looks like the names of columns is no table.
func perhapsTable(err error) string {
	return "the first line could be the heading of a table, and " + err.Error()
}

func noFigureAs(warning string) string { return noFigure + ": " + warning }

// Places of warnings.
func inFile(path, text string) string { return path + ": " + text }
func inLine(path string, line int, text string) string {
	return fmt.Sprintf("%s, line %d: %s", path, line, text)
}

// Warnings and their remedies.
const (
	callRuns = "where they are repeats of one run, call them run 1, run 2 ... or write each to a file of its own"
	sameLoad = "name files of the same tool and the same load for each arm"
)

// differentLoads lists the words in which reports differ.
func differentLoads(names []string) string {
	return "the reports differ in words above them, so they are different loads and no repeats: " + strings.Join(names, "; ")
}

// withoutWords stands for the words of a report that has none of its own.
const withoutWords = "(none)"

func filesOfOneRun(more int) string {
	return fmt.Sprintf("this and %d more files are of the threads or jobs of one run: they were added up", more)
}

// anyOther is the arm that is missing beside the baseline.
const anyOther = "any other arm"

func noRunIn(arm string) string { return "there is no run of this load in " + arm }
