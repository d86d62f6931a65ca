package run

import (
	"fmt"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/record"
)

// Sentences of a run for users, without its errors: warnings in the record, reasons why an arm or
// a window is left out, remedies.

// Errors have it where a log says more.
func seeLog(file string) string { return "see " + file }

// caution is the text of a warning with its remedy.
type caution struct{ text, remedy record.Said }

func (c caution) of(workload, arm string) record.Warning {
	return record.Warning{Workload: workload, Arm: arm, Text: c.text, Remedy: c.remedy}
}

// Warnings of a whole run.

func notProtected(why error) caution {
	return caution{record.Say("no_real_time_priority", "error", why.Error()), record.Say("grant_sys_nice")}
}

func notGuarded(why error) caution {
	return caution{record.Say("not_guarded", "error", why.Error()), record.Say("clean_up_takes_back")}
}

// serverReported is about a server that logs an error at its start and goes on.
func serverReported(line string) caution {
	return caution{record.Say("server_reported", "line", line), saidLogs()}
}

// saidLogs is the remedy where the logs of the arms say more.
func saidLogs() record.Said { return record.Say("see_file", "file", record.RawDir+"/") }

// escaped is about processes that go on after the run.
func escaped(pids []int) caution {
	list := strings.Trim(fmt.Sprint(pids[:min(len(pids), 20)]), "[]")
	return caution{record.Say("escaped", "n", len(pids)), record.Say("kill_escaped", "pids", list)}
}

func tornRecord() caution { return caution{text: record.Say("record_end_removed")} }

// controllerScheduling is a name in record.Manifest.Versions.
const controllerScheduling = "scheduling of the controller"

// Warnings of a workload or an arm.

// moreCPUs is about an arm that may use the CPUs other, where tare may use the CPUs own.
func moreCPUs(other, own string) caution {
	return caution{record.Say("other_cpus", "cpus", other, "own", own), record.Say("start_without_taskset")}
}

func lengthened(why record.Said) caution {
	return caution{record.Say("windows_lengthened", "why", why), record.Say("longer_budget_or_window")}
}

// longerWindows is the reason of the lengths (record.Pilot.Why) after lengthened.
func longerWindows(why record.Said) record.Said { return record.Say("longer_windows", "why", why) }

func endedInLaunch(reason, remedy record.Said) caution {
	return caution{record.Say("ended_in_launch", "why", reason), remedy}
}

func launchedLater(before, remedy record.Said) caution {
	return caution{record.Say("launched_later", "why", before), remedy}
}

func preparedAnew(why string) caution { return caution{text: record.Say("prepared_anew", "why", why)} }

func deviceHeld(err error) caution {
	return caution{record.InProse(err.Error()), record.Say("device_goes")}
}

func shortDiscard(discard, need time.Duration, quota bool) caution {
	text := record.Say("short_discard_beside", "discard", discard.Seconds(), "needed", need.Seconds())
	if quota {
		text = record.Say("short_discard_quota", "discard", discard.Seconds(), "needed", need.Seconds())
	}
	return caution{text, record.Say("leave_discard_out", "needed", need.Seconds())}
}

func partialPeriod(window, period time.Duration) caution {
	return caution{record.Say("partial_period", "window", window.Seconds(), "period", period.Seconds()),
		record.Say("leave_window_out", "period", period.Seconds())}
}

// Reasons why an arm, a workload or a window is left out.

// neighbourEnded is followed by the end of the neighbour's log.
func neighbourEnded(name string, how error, log string) string {
	return fmt.Sprintf("neighbour %s: %v%s", name, how, log)
}

func killedProcesses(n uint64) string {
	return fmt.Sprintf("the out-of-memory killer ended %d of its processes", n)
}

// reportedErrors is followed by the end of the arm's log.
func reportedErrors(n uint64, log string) string { return fmt.Sprintf("%d errors%s", n, log) }

// withLog adds the end of a log to an error.
func withLog(err error, log string) string { return err.Error() + log }

func stillLoading(at string, running float64) string {
	return fmt.Sprintf("%s: the budget is over, and the statement has been running for %s", at, quantity.Duration(running))
}

const (
	unequalRemedy = "make them equal, or compare them all the same with --set unequal=mark, which marks every result of theirs"
	longerForDump = "give the run a longer --budget, or remove the statement from the dump"
)

// clientOnHost is where the client of a server runs, a setting.
const clientOnHost = "on the host, outside of the arm"

// Remedies where too little room is left.
const (
	scratchRemedy = "tare run --scratch DIR, a directory on a file system with more room"
	resultRemedy  = "tare run -o DIR, a directory on a file system with more room"
	cacheRemedy   = "tare cache prune, or XDG_CACHE_HOME=DIR on a file system with more room"
)

func layerRemedy(arm string) string {
	return "make room there, or leave arm " + arm + " out with --arms"
}
