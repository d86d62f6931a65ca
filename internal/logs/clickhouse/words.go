package clickhouse

import "fmt"

// All sentences of this package for users. The code that reads has none of its own (tools/sentences).

// versions are those whose output is read.
const versions = "1.1 to current; JSON to 23.7"

// outputOf is the name of the setting with the era.
const outputOf = "output of version"

// serverLoad names the load of a server; i counts from 0.
func serverLoad(i int) string { return fmt.Sprintf("server %d", i+1) }

// Warnings and their remedies.
const (
	allQPS           = "all statistics of this revision are the QPS (ClickHouse issue 619); only QPS and percentiles were read"
	oneConnection    = "the rates in this JSON are of one connection: one over the mean query time (ClickHouse pull request 36473)"
	timesConcurrency = "multiply by the concurrency (-c) for the whole, or compare ratios at the same concurrency"
	fewerQueries     = "fewer queries than in the report before: taken as another run"
	asManyQueries    = "as many queries as in the report before: taken as another run"
	fileEach         = "give each run a file of its own"
	noTotal          = "the report of the whole run is missing: the last one is of an interval"
	stoppedOrCut     = "the run was stopped or the file is cut"
	ratesOfTimes     = "clickhouse-benchmark before 23.8 computes QPS from the query times and not from the clock"
	sameVersion      = "compare only runs of the same version, or divide the queries by the run's duration"
	fewPercentiles   = "the percentiles of the last report are not complete"
	fileCut          = "the file is cut"
	maybeInterval    = "unknown whether the last report is of the whole run or of an interval"
	keepStdout       = "run the tool with -d 0 or keep what it writes to stdout"
	unknownFigures   = "a line of figures that is cut off or of an unknown version was not read"
)

// Errors.
const (
	noReport    = "the run that begins here has no report"
	stoppedSoon = "it was stopped before the first one, or the file is cut"
)

func toolSaid(failure string) string { return "no report; the tool said: " + failure }
