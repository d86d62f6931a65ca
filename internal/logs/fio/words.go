package fio

import (
	"strings"

	"github.com/tarelab/tare/record"
)

// All sentences of this package for users. The code that reads has none of its own (tools/sentences).

// logsOfFio is what parseLog reads.
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
var (
	importWhole    = record.Say("import_finished_report")
	jobFailed      = record.Say("job_failed")
	findFailure    = record.Say("find_failure")
	checkFigures   = record.Say("check_against_report")
	noGroupStatus  = record.Say("no_group_status")
	stoppedOrCut   = record.Say("fio_stopped_or_cut")
	cutTerse       = record.Say("terse_cut")
	useJSON        = record.Say("use_json")
	onlyGroup      = record.Say("only_group_status")
	namelessJob    = record.Say("job_nameless")
	wholeReport    = record.Say("import_whole_report")
	noEntry        = record.Say("no_log_entry")
	asMicroseconds = record.Say("read_as_microseconds")
	asNanoseconds  = record.Say("kind_reads_nanoseconds")
)

// someJobs warns that a report has only n of the jobs that fio started.
func someJobs(started, n int) record.Said {
	return record.Say("some_jobs", "started", started, "jobs", n)
}

func fioSaid(failure string) record.Said { return record.Say("fio_said", "text", failure) }

func unknownVersion(version string) record.Said {
	return record.Say("unknown_version", "tool", "fio", "version", version, "known", "3.42")
}

// names are the forms of reports.
var names = map[string]string{"text": "text", "terse": "terse", "json": "JSON"}

func twoForms(last, this, kept string) record.Said {
	return record.Say("run_in_two_forms", "form", names[last], "other", names[this], "kept", names[kept])
}

func checkFile(line []byte) record.Said { return record.Say("check_file", "line", string(line)) }

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
