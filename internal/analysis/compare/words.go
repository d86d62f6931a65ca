package compare

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/record"
)

// Sentences of the comparison for users.

// Errors: noSharedWorkload is why results are not compared.
func noSharedWorkload(before, after []string) string {
	return fmt.Sprintf("no workload is in both: %s before, %s after", strings.Join(before, ", "), strings.Join(after, ", "))
}

// Errors: changed states a difference with its values.
func changed(d record.Difference) string {
	what := said.English(d.What)
	if len(d.Where) > 0 {
		what += " of " + strings.Join(d.Where, ", ")
	}
	return fmt.Sprintf("%s: %s before, %s after", what, cmp.Or(d.Before, "none"), cmp.Or(d.After, "none"))
}

// statisticsDiffer says that the two results were judged by different rules when they were made.
func statisticsDiffer(before, after string, here int) record.Said {
	return record.Say("statistics_differ", "before", before, "after", after, "here", here)
}

func ofBefore(text record.Said) record.Said { return record.Say("of_old", "text", text) }

func ofAfter(text record.Said) record.Said { return record.Say("of_new", "text", text) }

// Names of what differs.
const (
	experimentName = "name of the experiment"
	primaryMetric  = "primary metric"
	kindOfBaseline = "what the baseline runs as" // it competes for CPUs by other things
)

var statisticsVersion = record.Say("statistics")

// The names of single parameters and the like.
func parameter(name string) record.Said { return record.Say("parameter", "name", name) }
func neighbour(name string) record.Said { return record.Say("neighbour", "name", name) }
func version(name string) record.Said   { return record.Say("version_of", "name", name) }
func setting(name string) record.Said   { return record.Say("setting", "name", name) }
func asked(name string) record.Said     { return record.Say("set", "name", name) }

// runsAs describes such a baseline; as is record.Arm.RunsAs.
func runsAs(as string) string {
	switch as {
	case record.AsService:
		return "a service: a session and control groups of its own"
	case record.AsSession:
		return "a session of its own, in tare's control groups"
	case record.AsProcess:
		return "a session of its own, in the root group"
	}
	return "a process in the root group, in the session that started tare"
}

// baselinesDiffer warns that a change of an effect may be one of its baseline.
func baselinesDiffer(before, after string) record.Said {
	return record.Say("baselines_differ", "before", runsAs(before), "after", runsAs(after))
}
