package analysis

import (
	"math"

	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// What the analysis says to users: reasons, checks and warnings. The sentences are in package messages, by code.

// Reasons for a missing value or effect.
var (
	noWindow         = record.Say("no_window")
	noOperation      = record.Say("no_operation")
	noRequest        = record.Say("no_request")
	fewBeyond        = record.Say("few_beyond_quantile")
	beyondBuckets    = record.Say("beyond_histogram")
	fewReports       = record.Say("few_reports")
	unknownMetric    = record.Say("unknown_metric")
	notPositive      = record.Say("figure_not_positive")
	noNeighbourWork  = record.Say("neighbour_idle")
	workNotRecorded  = record.Say("neighbour_not_recorded")
	noLoss           = record.Say("no_loss_shown")
	noiseBeyondShare = record.Say("noise_hides_share")
	noInterval       = record.Say("no_interval")
	errorUnknown     = record.Say("error_unknown")
	fewForModes      = record.Say("few_windows_for_modes")
	sameInAllRuns    = record.Say("runs_alike")
	onlyRun          = record.Say("one_run")
)

func noWindowSince(why record.Said) record.Said { return record.Say("no_window_because", "why", why) }
func noArm(arm string) record.Said              { return record.Say("no_such_arm", "arm", arm) }
func reasonOf(arm string, why record.Said) record.Said {
	return record.Say("of_arm", "arm", arm, "why", why)
}
func noCPUTime(why record.Said) record.Said      { return record.Say("no_cpu_time", "why", why) }
func valueNotPositive(x float64) record.Said     { return record.Say("value_not_positive", "value", x) }
func notInOutput(file string) record.Said        { return record.Say("not_in_output", "file", file) }
func noRun(arm string) record.Said               { return record.Say("no_run", "arm", arm) }
func invalidBecause(why record.Said) record.Said { return record.Say("invalid_because", "why", why) }
func beforeIt(why record.Said) record.Said       { return record.Say("invalid_in_old", "why", why) }
func afterIt(why record.Said) record.Said        { return record.Say("invalid_in_new", "why", why) }
func unknownBefore(why record.Said) record.Said  { return record.Say("undecided_in_old", "why", why) }
func unknownAfter(why record.Said) record.Said   { return record.Say("undecided_in_new", "why", why) }
func otherLoad(differences []record.Said) record.Said {
	return record.Say("other_load", "differences", differences)
}
func runsNeeded(least, base, n int) record.Said {
	return record.Say("few_runs", "needed", least, "baseline", base, "runs", n)
}

// otherHosts says that no machine has runs of both arms.
func otherHosts(base, n, least int) record.Said {
	return record.Say("other_hosts", "baseline", base, "hosts", n, "needed", least)
}

// fewHosts says that too few machines have runs of both arms.
func fewHosts(n, least int) record.Said { return record.Say("few_hosts", "needed", least, "hosts", n) }

func noSuchArm(left record.Said) record.Said {
	if left.IsZero() {
		return record.Say("not_on_node")
	}
	return record.Say("not_on_node_because", "why", left)
}

// Reasons of verdicts.
var (
	fewBlocks     = record.Say("few_blocks")
	noiseTooLarge = record.Say("noise_too_large")
	belowMargin   = record.Say("below_margin")
	maybeBelow    = record.Say("maybe_below_margin")
	idleBaseline  = record.Say("idle_baseline")
	blocksAlike   = record.Say("windows_alike")
	// totalOpen is the reason where the typical effect lies within the margin and the total does not.
	totalOpen = record.Say("total_open")
	// twoSpeedsOpen is the reason where an arm has two speeds and only the more frequent one is shown to differ.
	twoSpeedsOpen = record.Say("two_speeds")
	// twinIsNoise is the reason of a twin that differs in another metric than the primary one.
	twinIsNoise = record.Say("twin_differs_here")
)

// fewLaunches is the reason why an effect has no verdict; launches are those of the arm that has fewer.
func fewLaunches(launches int) record.Said {
	return record.Say("few_launches", "needed", metric.LeastLaunches, "made", launches)
}

// fewForStalls is the reason why rare stalls are not ruled out.
func fewForStalls(windows, needed int) record.Said {
	return record.Say("few_windows_for_stalls", "windows", windows, "needed", needed)
}

// twinDiffersBy is the reason of an effect that may be an error of the measurement.
func twinDiffersBy(twin *record.Ratio) record.Said {
	return record.Say("twin_differs_by", "twin", record.Ratio{Ratio: twin.Ratio, Low: twin.Low, High: twin.High})
}

func noMean(workload string) record.Said { return record.Say("no_change_known", "load", workload) }

func tooWide(half float64) record.Said { return record.Say("too_wide", "half", half) }

func notJudged(question, baseline string) record.Said {
	return record.Say("question_not_shown", "question", question, "baseline", baseline)
}

// droppedMore says which shares of the windows of two arms were dropped.
func droppedMore(share float64, arm string, other float64, base string) record.Said {
	return record.Say("dropped_unequally", "share", share, "arm", arm, "other", other, "baseline", base)
}

// Standing checks.
var (
	fewToCompare      = record.Say("few_to_compare")
	fewToTell         = record.Say("few_blocks_to_tell")
	rotatedText       = record.Say("rotated_against_steady")
	rotatedRemedy     = record.Say("use_longer_windows")
	halvesRemedy      = record.Say("lengthen_discard")
	orderRemedy       = record.Say("run_four_launches")
	hookOff           = record.Say("no_hook")
	hookOn            = record.Say("set_hook")
	inBatches         = record.Say("in_batches")
	lateRemedy        = record.Say("lower_rate")
	nothingStolen     = record.Say("little_stolen")
	stealRemedy       = record.Say("cpu_per_op_not_judged")
	settledSoonRemedy = record.Say("measure_without_discard")
)

func halvesDiffer(arm string) record.Said { return record.Say("halves_differ", "arm", arm) }

func notAlike(autocorrelation float64, arm string, seen float64) record.Said {
	return record.Say("blocks_independent", "autocorrelation", autocorrelation, "arm", arm, "detectable", seen)
}

func windowsAlike(autocorrelation float64, arm string, launches int) record.Said {
	return record.Say("blocks_alike", "arm", arm, "autocorrelation", autocorrelation, "launches", launches)
}

func lateAtMost(share float64, arm string) record.Said {
	return record.Say("late_at_most", "share", share, "arm", arm)
}

// The three findings about CPU time and steal; share is used and stolen time together, as
// part of what the CPUs have.
func stealCounted(share float64) record.Said { return record.Say("steal_counted", "share", share) }
func netOfSteal(share float64) record.Said   { return record.Say("net_of_steal", "share", share) }
func stealUntold(share float64) record.Said  { return record.Say("steal_untold", "share", share) }

func settledSoon(seconds float64) record.Said { return record.Say("settled_soon", "discard", seconds) }

func checkFailed(kind string, text record.Said) record.Said {
	return record.Say("check_failed", "kind", kind, "text", text)
}

// checkOf names a check with the arm that it is about.
func checkOf(c record.Checks) record.Said {
	if c.Subject != "" {
		return record.Say("check_of", "kind", c.Kind, "subject", c.Subject)
	}
	return record.Say("check", "kind", c.Kind)
}

// caution is the text of a warning with its remedy.
type caution struct{ text, remedy record.Said }

func (c caution) of(workload, arm string) record.Warning {
	return record.Warning{Workload: workload, Arm: arm, Text: c.text, Remedy: c.remedy}
}

// tornRecord warns of a record whose end is missing.
func tornRecord() caution { return caution{record.Say("record_torn"), record.Say("clean_up")} }

func noBlock() caution { return caution{record.Say("no_block"), record.Say("run_longer")} }

func singleLaunch() caution {
	return caution{record.Say("single_launch"), record.Say("budget_for_launches")}
}

func oneLaunch() caution { return caution{record.Say("one_launch"), record.Say("launch_anew")} }

// oddLaunch says that some launches of an arm differ from its others; ratio is the typical one
// of these launches over the others.
func oddLaunch(arm string, odd, launches int, ratio float64) caution {
	way := "slower"
	if ratio > 1 {
		way = "faster"
	}
	return caution{record.Say("odd_launches", "odd", odd, "launches", launches, "arm", arm, "by", math.Abs(ratio-1), "way", way), record.Say("more_launches")}
}

// unsteadyLaunches says that the launches of an arm differ more than those of the others; both
// are standard deviations on the log scale.
func unsteadyLaunches(arm string, sd, others float64) caution {
	return caution{record.Say("unsteady_launches", "arm", arm, "deviation", sd, "others", others), record.Say("more_launches")}
}

func twinDiffers() caution { return caution{record.Say("twin_differs"), record.Say("repeat_run")} }

func stalledWindows(n, of int) caution {
	return caution{record.Say("stalled_windows", "stalled", n, "windows", of), record.Say("longer_windows_or_stalls")}
}

func pausedByLoad() caution {
	return caution{record.Say("paused_by_load"), record.Say("run_as_root_or_delegated")}
}

func pausedByStream() caution {
	return caution{record.Say("paused_by_stream"), record.Say("use_node_helper")}
}

func unequalArm(differences []record.Said) caution {
	return caution{record.Say("unequal", "differences", differences), record.Say("price_of_durability")}
}

// Names of rules, which effects.json has.
const (
	ruleWaiting     = "waiting for a CPU"
	rulePinning     = "pinning concentrates the neighbour's weight"
	ruleWaitsLonger = "waits longer than without isolation"
	rulePriority    = "priority counts only within a group"
	ruleFewerCPUs   = "fewer CPUs than it can use"
)
