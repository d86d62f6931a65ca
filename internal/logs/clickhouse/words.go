package clickhouse

import (
	"fmt"

	"github.com/tarelab/tare/record"
)

// All sentences of this package for users. The code that reads has none of its own (tools/sentences).

// versions are those whose output is read.
const versions = "1.1 to current; JSON to 23.7"

// outputOf is the name of the setting with the era.
const outputOf = "output of version"

// serverLoad names the load of a server; i counts from 0.
func serverLoad(i int) string { return fmt.Sprintf("server %d", i+1) }

// Warnings and their remedies.
var (
	allQPS           = record.Say("all_statistics_qps")
	oneConnection    = record.Say("rates_of_one_connection")
	timesConcurrency = record.Say("multiply_by_concurrency")
	fewerQueries     = record.Say("fewer_queries")
	asManyQueries    = record.Say("as_many_queries")
	fileEach         = record.Say("file_for_each_run")
	noTotal          = record.Say("last_report_of_interval")
	stoppedOrCut     = record.Say("stopped_or_cut")
	ratesOfTimes     = record.Say("rates_of_query_times")
	sameVersion      = record.Say("compare_same_version")
	fewPercentiles   = record.Say("percentiles_incomplete")
	fileCut          = record.Say("file_cut")
	maybeInterval    = record.Say("maybe_of_interval")
	keepStdout       = record.Say("keep_stdout")
	unknownFigures   = record.Say("unknown_figures")
)

// Errors.
const (
	noReport    = "the run that begins here has no report"
	stoppedSoon = "it was stopped before the first one, or the file is cut"
)

func toolSaid(failure string) string { return "no report; the tool said: " + failure }
