package fio

import (
	"fmt"
	"strings"
)

// All sentences of this package for users. The code that reads has none of its own (tools/sentences).

// logsOfFio is what ParseLog reads.
const logsOfFio = "fio's logs"

// kindOfIO is the name of a setting, allKinds its value for several.
const kindOfIO = "kind of I/O"

func allKinds(kinds []string) string { return strings.Join(kinds, " and ") }

// sizesTo is the range of block sizes.
func sizesTo(low, high string) string { return low + " to " + high }

// Errors: why tare does not pass an option on.
const (
	reachesOutside = "it reaches outside of the data directory"
	startsPrograms = "it starts other programs"
	notSteady      = "a window is one steady load from its beginning to its end"
	changesHost    = "it changes settings of the host"
	inDataDir      = "files are made in the arm's data directory"
	neverDevice    = "tare never lets fio write to a device"
	fullDisk       = "a full disk hurts everybody on this host"
	latenciesAlike = "latencies are measured in every arm alike"
	sameUser       = "every process of an arm runs as the same user"
	sameGroup      = "every process of an arm runs as the same group"
)

// Warnings and their remedies.
const (
	importWhole    = "let fio run to its end and import the whole report"
	jobFailed      = "a job ended with an error"
	findFailure    = "find out what failed before the figures are used"
	checkFigures   = "check the figures against the report"
	noGroupStatus  = "the text report ends before its group status"
	stoppedOrCut   = "fio was stopped or the file is cut; the last job may be incomplete"
	cutTerse       = "a terse line is cut off or of an unknown version; it was not read"
	useJSON        = "use --output-format=json"
	onlyGroup      = "the lines of the jobs are not there: of a group status only the bandwidth is known"
	namelessJob    = "the first line of a job is missing: its name is unknown"
	wholeReport    = "import the whole report"
	noEntry        = "this line is no entry of a log; it and others like it were not read"
	asMicroseconds = "the log does not say which version wrote it; its latencies were read as microseconds (fio 2), as nanoseconds they would be impossible"
	asNanoseconds  = "--kind=fio3-log reads them as nanoseconds"
)

// someJobs warns that a report has only n of the jobs that fio started.
func someJobs(started, n int) string {
	is := "are"
	if n == 1 {
		is = "is"
	}
	return fmt.Sprintf("fio started %d jobs and %d of them %s here: rates are not those of all", started, n, is)
}

func fioSaid(failure string) string { return "fio said: " + failure }

func unknownVersion(version string) string {
	return "fio " + version + " is not a version that is known; it was read like 3.42"
}

// names are the forms of reports.
var names = map[string]string{"text": "text", "terse": "terse", "json": "JSON"}

func twoForms(last, this, kept string) string {
	return fmt.Sprintf("the same run is there as %s and as %s; the %s is used", names[last], names[this], names[kept])
}

func checkFile(line []byte) string { return fmt.Sprintf("check the file: %q", line) }

// Errors and their remedies.
const (
	noReport    = "fio began its jobs and the file ends without a report of them"
	runToEnd    = "let fio run to its end"
	unknownLog  = "a log of fio does not say what it holds"
	nameLog     = "name it as fio does (..._lat.log, ..._bw.log, ..._iops.log), or say latency, bandwidth or iops"
	unknownUnit = "unknown whether the latencies are in nanoseconds (fio 3) or microseconds (fio 2)"
	sayVersion  = "--kind=fio2-log or --kind=fio3-log says which version wrote it"
)

func onlySaid(failure string) string { return "fio made no report; it said: " + failure }
