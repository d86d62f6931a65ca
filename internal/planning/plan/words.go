package plan

import (
	"fmt"
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

func twinTitle(baseline string) string { return baseline + " again: the noise floor" }

// titleOf says in a line what an arm is.
func titleOf(a PlannedArm) string {
	var parts []string
	if a.Neighbour != nil {
		parts = append(parts, besideTitle(a))
	}
	for _, chosen := range a.Chosen() {
		switch {
		case chosen.Got == "" || chosen.Name == "environment" && chosen.Got == experiment.Baseline:
		case chosen.Name == "environment":
			parts = append(parts, "in "+chosen.Got)
		case chosen.Name == "volume":
			parts = append(parts, "on "+chosen.Got)
		case chosen.Name == "memory":
			parts = append(parts, "memory "+bytes(a.MemoryBytes))
		default:
			parts = append(parts, chosen.Name+" "+chosen.Got)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.Set)) {
		parts = append(parts, name+"="+a.Set[name])
	}
	if len(parts) == 0 {
		return "alone"
	}
	return strings.Join(parts, ", ")
}

// besideTitle says what an arm's neighbour is, and what protects the arm from it.
func besideTitle(a PlannedArm) string {
	name, isolation := a.Neighbour.Name, a.Arm.Isolation
	switch {
	case a.Neighbour.Environment != "":
		return fmt.Sprintf("beside %s: in a pod of its own (%s)", name, a.Neighbour.Environment)
	case len(isolation) == 0:
		return fmt.Sprintf("beside %s, unprotected", name)
	}
	return fmt.Sprintf("beside %s, %s: %s", name, strings.Join(isolation, " and "), strings.Join(mechanismTitles(isolation), "; "))
}

// bytes formats a size in GiB, or in MiB where it is not a multiple of one.
func bytes(n int64) string {
	if n%(1<<30) == 0 {
		return fmt.Sprintf("%d GiB", n>>30)
	}
	return fmt.Sprintf("%d MiB", n>>20)
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
