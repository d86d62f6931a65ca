package plan

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/record"
)

// Sentences of the planning for users, without its errors: why an arm is left out, with the remedy,
// titles of arms, and why the pilot chose its lengths.

// needsOwnGroup is why an arm of an environment cannot have an isolation.
func needsOwnGroup(isolation, environment string, controllers []string) record.Said {
	return record.Say("needs_own_group", "isolation", isolation, "environment", environment, "controllers", strings.Join(controllers, " or "))
}

// Titles.

func twinTitle(baseline string) record.Said { return record.Say("arm_again", "arm", baseline) }

// titleOf says in a line what an arm is.
func titleOf(a PlannedArm) record.Said {
	var parts []record.Said
	if a.Neighbour != nil {
		parts = append(parts, besideTitle(a))
	}
	for _, chosen := range a.Chosen() {
		if chosen.Got != "" && (chosen.Name != "environment" || chosen.Got != experiment.Baseline) {
			parts = append(parts, settingTitle(a, chosen))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.Set)) {
		parts = append(parts, record.Say("set_param", "name", name, "value", a.Set[name]))
	}
	switch len(parts) {
	case 0:
		return record.Say("arm_alone")
	case 1:
		return parts[0]
	}
	return record.Say(record.TitleSettings, "settings", parts)
}

// settingTitle is a setting of an arm in a few words.
func settingTitle(a PlannedArm, s record.Setting) record.Said {
	switch s.Name {
	case "environment":
		return record.Say("arm_in", "environment", s.Got)
	case "volume":
		return record.Say("on_volume", "volume", s.Got)
	case "memory":
		return record.Say("set_memory", "memory", a.MemoryBytes)
	}
	return experiment.SettingTitle(s)
}

// besideTitle says what an arm's neighbour is, and what protects the arm from it.
func besideTitle(a PlannedArm) record.Said {
	name, isolation := a.Neighbour.Name, a.Arm.Isolation
	switch {
	case a.Neighbour.Environment != "":
		return record.Say("beside_in_pod", "neighbour", name, "environment", a.Neighbour.Environment)
	case len(isolation) == 0:
		return record.Say("beside_unprotected", "neighbour", name)
	}
	return record.Say("beside_isolated", "neighbour", name, "isolation", isolation, "mechanisms", mechanismTitles(isolation))
}

// Reasons of the settle time (record.Pilot.Why). Ratios and half-widths are 1 for 100 %.
func settleForQuota(d time.Duration) record.Said {
	return record.Say("settle_time_quota", "settle", d.Seconds())
}

func settleBesideNeighbour(d time.Duration) record.Said {
	return record.Say("settle_time_beside_neighbour", "settle", d.Seconds())
}

func settleBesideWork(d time.Duration, share float64) record.Said {
	return record.Say("settle_time_beside_work", "settle", d.Seconds(), "share", share)
}

func noiseHidesTransient(half float64, taken time.Duration) record.Said {
	return record.Say("noise_hides_transient", "half", half, "settle", taken.Seconds())
}

func noTransient(after time.Duration, off, half float64, arm string) record.Said {
	return record.Say("no_transient", "settle", after.Seconds(), "off", math.Abs(off), "half", half, "arm", arm)
}

func fewForTransient(taken time.Duration) record.Said {
	return record.Say("few_operations_for_transient", "settle", taken.Seconds())
}

func transientLeft(after time.Duration, off, half float64, taken time.Duration) record.Said {
	return record.Say("transient_left", "after", after.Seconds(), "off", math.Abs(off), "half", half, "settle", taken.Seconds())
}

// halvesDiffer is why the windows are too short; off is a ratio less 1, se that of a log ratio.
func halvesDiffer(arm string, off, se float64) record.Said {
	return record.Say("halves_uneven", "arm", arm, "off", off, "error", se)
}

// Reasons of the window.

func onlyShortest(taken time.Duration) record.Said {
	return record.Say("only_shortest_windows", "window", taken.Seconds())
}

func notCompared(taken time.Duration) record.Said {
	return record.Say("windows_not_compared", "window", taken.Seconds())
}

func slowOperations(window time.Duration) record.Said {
	return record.Say("slow_operations", "window", window.Seconds())
}

func shortestPossible(window time.Duration) record.Said {
	return record.Say("shortest_windows", "window", window.Seconds())
}

func soonestOnNoise(window time.Duration) record.Said {
	return record.Say("soonest_on_noise", "window", window.Seconds())
}

func toolRunsAnew(window, more time.Duration) record.Said {
	return record.Say("tool_runs_anew", "window", window.Seconds(), "more", more.Seconds())
}

// Reasons of launches and blocks; launch and block are in seconds.

func oneLaunch(blocks int) record.Said { return record.Say("one_launch_of_blocks", "blocks", blocks) }

func someLaunches(launches, blocks int, launch, block float64) record.Said {
	return record.Say("launches_of_blocks", "launches", launches, "blocks", blocks, "launch_seconds", launch, "block_seconds", block)
}

// everyReason is the whole of record.Pilot.Why.
func everyReason(reasons ...record.Said) record.Said {
	return record.Say("reasons", "reasons", reasons)
}
