package run

import (
	"fmt"
	"time"

	"github.com/tarelab/tare/record"
)

// Sentences of a run for users, without its errors: warnings in the record, reasons why an arm or
// a window is left out, remedies.

// seeLogs is the remedy where the logs of the arms say more.
const seeLogs = "see " + record.RawDir + "/"

func seeLog(file string) string { return "see " + file }

// caution is the text of a warning with its remedy.
type caution struct{ text, remedy string }

func (c caution) of(workload, arm string) record.Warning {
	return record.Warning{Workload: workload, Arm: arm, Text: c.text, Remedy: c.remedy}
}

// Warnings of a whole run.

func notProtected(why error) caution {
	return caution{fmt.Sprintf("tare's own thread has no real-time priority (%s): it freezes and thaws late when the arms saturate every CPU", why),
		"run as root or grant CAP_SYS_NICE"}
}

func notGuarded(why error) caution {
	return caution{fmt.Sprintf("a kill of the whole control group that tare runs in would leave changes on this host: %v", why),
		"tare cleanup takes them back"}
}

func tornRecord() caution {
	return caution{text: "the end of the record was cut off, as a kill or a power cut leaves it, and was removed before the record was continued"}
}

// controllerScheduling is a name in record.Manifest.Versions.
const controllerScheduling = "scheduling of the controller"

// Warnings of a workload or an arm.

// moreCPUs is about an arm that may use the CPUs other, where tare may use the CPUs own.
func moreCPUs(other, own string) caution {
	return caution{fmt.Sprintf("may use the CPUs %s, where tare and what it starts on the host are kept to %s: its difference from the host is also that of the CPUs", other, own),
		"start tare without taskset or CPUAffinity=, and keep arms to CPUs by their key cpuset"}
}

func lengthened(why string) caution {
	return caution{"windows were made longer and measuring began again: " + why,
		"give the run a longer --budget, or fix the window in the experiment"}
}

// longerWindows is the reason of the lengths (record.Pilot.Why) after lengthened.
func longerWindows(why string) string { return "longer windows: " + why }

func endedInLaunch(reason, remedy string) caution {
	return caution{"ended in the middle of a launch: " + reason, remedy}
}

func launchedLater(before, remedy string) caution {
	return caution{"was launched at another try; before: " + before, remedy}
}

func preparedAnew(why string) caution {
	return caution{text: "prepared anew, for the data set in the cache is not used: " + why}
}

func deviceHeld(err error) caution {
	return caution{err.Error(), "it goes when that process ends; losetup -l shows it"}
}

func shortDiscard(discard, need time.Duration, quota bool) caution {
	why := "beside a neighbour CPU time is divided otherwise than later on"
	if quota {
		why = "an arm with a quota has more than its share"
	}
	return caution{fmt.Sprintf("discard: %s is too short: until %s after a thaw %s", discard, need, why),
		fmt.Sprintf("leave discard: out of the experiment, or make it %s", need)}
}

func partialPeriod(window, period time.Duration) caution {
	return caution{fmt.Sprintf("window: %s is no multiple of %s, the period of a quota: a window holds more or less of it by chance", window, period),
		fmt.Sprintf("leave window: out of the experiment, or make it a multiple of %s", period)}
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

const (
	unequalRemedy = "make them equal, or compare them all the same with --set unequal=mark, which marks every result of theirs"
	budgetRemedy  = "give the run a longer --budget, or name fewer workloads with --workload"
)

// Reasons of missing values.
const (
	noReading          = "the window has no reading of it"
	loadSilent         = "the load said nothing of it in this window"
	neighbourUnwatched = "nobody looked at the neighbour in this window"
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
