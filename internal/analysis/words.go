package analysis

import (
	"fmt"
	"math"
	"strings"

	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// All sentences of the analysis for users: reasons, checks, warnings and what the probes
// say. The code that computes has none of its own (tools/sentences).

// Reasons for a missing value or effect.
const (
	noWindow         = "no window of this arm counts"
	noOperation      = "no operation was measured"
	noRequest        = "no window has such a request"
	fewBeyond        = "too few operations beyond the quantile"
	fewReports       = "too few reports"
	unknownMetric    = "this tare does not know the metric"
	notPositive      = "a figure is not positive: there is no ratio"
	noNeighbourWork  = "the neighbour did nothing without isolation either"
	workNotRecorded  = "the neighbour's work was not recorded"
	noLoss           = "no loss without isolation is shown"
	noiseBeyondShare = "the noise is too large for a share"
	noInterval       = "it has no effect with an interval"
	errorUnknown     = "its error is unknown"
	fewForModes      = "too few windows to tell, or too few arms beside it"
	sameInAllRuns    = "all runs say the same: their scatter is unknown"
	onlyRun          = "one run of an arm does not say how the next would be"
)

func noArm(arm string) string         { return "the plan has no arm " + arm }
func reasonOf(arm, why string) string { return arm + ": " + why }
func noCPUTime(why string) string     { return "no CPU time: " + why }
func valueNotPositive(x float64) string {
	return fmt.Sprintf("%g is not positive: there is no ratio", x)
}
func notInOutput(file string) string      { return file + " does not say it" }
func noRun(arm string) string             { return "no run of " + arm }
func otherLoad(differences string) string { return "it ran another load: " + differences }
func invalidBecause(reason string) string { return "invalid: " + reason }
func beforeIt(reason string) string       { return "old result: " + reason }
func afterIt(reason string) string        { return "new result: " + reason }
func unknownBefore(reason string) string  { return "undecided in the old result: " + reason }
func unknownAfter(reason string) string   { return "undecided in the new result: " + reason }
func unequalIn(differences string) string { return "unequal: " + differences }
func runsNeeded(least, base, n int) string {
	return fmt.Sprintf("%d runs of each arm are needed, there are %d and %d", least, base, n)
}

func noSuchArm(left string) string {
	if left == "" {
		return "it has no such arm"
	}
	return "it has no such arm: " + left
}

// Reasons of verdicts.
const (
	fewBlocks     = "too few blocks to know the error; a longer --budget gives more"
	noiseTooLarge = "the noise is larger than any effect that could be shown"
	belowMargin   = "shown, but smaller than the margin"
	maybeBelow    = "may be smaller than the margin"
)

// fewLaunches is the reason why an effect has no verdict; launches are those of the arm that has fewer.
func fewLaunches(launches int) string {
	return fmt.Sprintf("a verdict needs %d launches, %d %s made", metric.LeastLaunches, launches, wasWere(launches))
}

func wasWere(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// fewForStalls is the reason why rare stalls are not ruled out.
func fewForStalls(windows, needed int) string {
	return fmt.Sprintf("%d windows do not rule out rare stalls larger than the margin, about %d would", windows, needed)
}

// totalOpen is the reason where the typical effect lies within the margin and the total does not.
const totalOpen = "a typical window differs by less than the margin, all windows together may differ by more"

// twoSpeedsOpen is the reason where an arm has two speeds and only the more frequent one is shown to differ.
const twoSpeedsOpen = "the arm worked at two speeds: the more frequent one differs, both together may not"

// twinIsNoise is the reason of a twin that differs in another metric than the primary one.
const twinIsNoise = "the twin differs from its baseline in this metric: its effects may be noise"

func tooWide(half float64) string { return fmt.Sprintf("±%.1f %% is too wide", 100*half) }

func notJudged(question, baseline string) string {
	return fmt.Sprintf("undecided, as %s is not shown to differ from %s", question, baseline)
}

// droppedMore says which shares of the windows of two arms were dropped.
func droppedMore(share float64, arm string, other float64, base string) string {
	return fmt.Sprintf("%.0f %% of the windows of %s were dropped and %.0f %% of %s: what they may hide is more than the difference", 100*share, arm, 100*other, base)
}

// Standing checks.
const (
	fewToCompare      = "not enough unfrozen stretches to compare with"
	fewToTell         = "not enough blocks to tell"
	rotatedText       = "rotated against never frozen"
	rotatedRemedy     = "longer windows (window: in the experiment) bring the rotated rate nearer to the steady one; both arms of a comparison are affected alike"
	halvesRemedy      = "the rate of this arm still moves inside windows: a longer discard or window takes the transient out"
	orderRemedy       = "run longer: with four launches or more the error holds all the same (--budget)"
	hookOff           = "without the hook nobody counts which operations began late"
	hookOn            = "hook: on"
	inBatches         = "requests that arrive together begin one after the other: being late is part of the load"
	lateRemedy        = "the arm or the generator cannot sustain this rate: lower it"
	nothingStolen     = "too little was stolen to matter, whether or not CPU time is net of it"
	stealRemedy       = "operations per CPU second have no verdict here; throughput has one"
	settledSoonRemedy = "measure it anew, without discard: in the experiment"
)

func halvesDiffer(arm string) string {
	return "first half of the windows against the second, beyond the baseline's, in " + arm
}

func notAlike(autocorrelation float64, arm string, seen float64) string {
	return fmt.Sprintf("largest lag-1 autocorrelation between blocks of a launch, by rank: %+.2f (%s); %.2f would have shown", autocorrelation, arm, seen)
}

func windowsAlike(autocorrelation float64, arm string, launches int) string {
	return fmt.Sprintf("windows of %s resemble each other from block to block (lag-1 autocorrelation %+.2f by rank); the error rests on %d launches", arm, autocorrelation, launches)
}

func lateAtMost(share float64, arm string) string {
	return fmt.Sprintf("at most %.1f %% of the operations began over 1 ms late (%s)", 100*share, arm)
}

// The three findings about CPU time and steal; share is used and stolen time together, as
// part of what the CPUs have.
func stealCounted(share float64) string {
	return fmt.Sprintf("CPU time and stolen time together are %.0f %% of what the CPUs have: the kernel counts what is stolen as used", 100*share)
}

func netOfSteal(share float64) string {
	return fmt.Sprintf("CPU time and stolen time together are %.0f %% of what the CPUs have: CPU time is net of what is stolen", 100*share)
}

func stealUntold(share float64) string {
	return fmt.Sprintf("CPU time and stolen time together are %.0f %% of what the CPUs have: too little to tell whether one contains the other", 100*share)
}

func settledSoon(seconds float64) string {
	return fmt.Sprintf("windows opened %.3g ms after a pause, in which what the limit granted had piled up: its loss is too small", 1000*seconds)
}

func checkFailed(kind, text string) string { return "the check “" + kind + "” failed: " + text }

// checkOf names a check with the arm that it is about.
func checkOf(c record.Checks) string {
	if c.Subject != "" {
		return c.Kind + " of " + c.Subject
	}
	return c.Kind
}

// caution is the text of a warning with its remedy.
type caution struct{ text, remedy string }

func (c caution) of(workload, arm string) record.Warning {
	return record.Warning{Workload: workload, Arm: arm, Text: c.text, Remedy: c.remedy}
}

// tornRecord warns of a record whose end is missing.
func tornRecord() caution {
	return caution{"the end of the record is cut off, as a kill or a power cut leaves it; the incomplete part was not read",
		"tare cleanup removes what the killed run left on the host"}
}

func noBlock() caution { return caution{"no block counts", "run longer: --budget"} }

func singleLaunch() caution {
	return caution{"single launch: what a launch changes by chance (memory layout, placement) was not seen; the intervals allow for what is usual",
		"a larger --budget leaves room for more generations"}
}

func oneLaunch() caution {
	return caution{"one launch only: what a launch changes by chance is not in the intervals", "a longer run (--budget) launches anew"}
}

// oddLaunch says that some launches of an arm differ from its others; ratio is the typical one
// of these launches over the others.
func oddLaunch(arm string, odd, launches int, ratio float64) caution {
	way := "slower"
	if ratio > 1 {
		way = "faster"
	}
	were := "was"
	if odd > 1 {
		were = "were"
	}
	return caution{fmt.Sprintf("%d of %d launches of %s %s %.0f %% %s", odd, launches, arm, were, 100*math.Abs(ratio-1), way), oddRemedy}
}

// unsteadyLaunches says that the launches of an arm differ more than those of the others; both
// are standard deviations on the log scale.
func unsteadyLaunches(arm string, sd, others float64) caution {
	return caution{fmt.Sprintf("launches of %s differ by %.1f %% (standard deviation), those of the other arms by %.1f %%", arm, 100*sd, 100*others), oddRemedy}
}

const oddRemedy = "more launches narrow its interval: a longer --budget"

func twinDiffers() caution {
	return caution{"the twin differs from its baseline: by chance one run in twenty shows this, in any of its loads",
		"repeat the run; if it stays, look for what differs by order of launch"}
}

func stalledWindows(n, of int) caution {
	return caution{fmt.Sprintf("in %d of %d windows no operation finished: they count, in the typical effect as half an operation", n, of),
		"longer windows (window: in the experiment) hold more operations; or find out what stalls"}
}

func pausedByLoad() caution {
	return caution{"arms were paused by their load, not frozen: background work of a paused arm goes on",
		"run as root, or with a delegated control group"}
}

func pausedByStream() caution {
	return caution{"pods were paused through their load, not frozen: a server runs on, idle, with its background work",
		"--node-helper, or run tare on the node, as root"}
}

func unequalArm(differences []string) caution {
	return caution{unequalIn(strings.Join(differences, "; ")),
		"what it gains is not speed: read its results as the price of keeping what was committed"}
}

// Imported figures.

func importedTitle(runs int, seconds float64) string {
	if seconds < 1 {
		return "imported, " + quantity.Count(runs, "run")
	}
	return fmt.Sprintf("imported, %s of %.0f s together", quantity.Count(runs, "run"), seconds)
}

const (
	settingsRemedy   = "run both arms with the same settings and the same versions"
	settingsUnsaid   = "the outputs do not say under which settings the runs were made"
	settingsUnshared = "no setting is named by the outputs of two arms"
	fewForLevels     = "fewer than ten reports on the way"
	levelsRemedy     = "find out what changes with it (placement on CPUs, frequency, a neighbour): a mean of two levels describes neither"
	fewForTrend      = "fewer than twenty reports on the way"
	reportsDepend    = "the reports follow too closely from one another"
	trendRemedy      = "the mean depends on when the run ended: leave the warm-up out, or run until it is level"
	fewForOutlier    = "fewer than four runs of an arm"
	outlierRemedy    = "find out what happened to it; leave it out only for a reason that does not look at the result"
	fromNothing      = "rises from nearly nothing"
)

func settingsAlike(names []string) string {
	return "the same in all arms: " + strings.Join(names, ", ")
}

func settingDiffers(name, own, baseline, base string) string {
	return fmt.Sprintf("%s: %s, in %s %s", name, own, baseline, base)
}

// bothValues are two values of one setting.
func bothValues(a, b string) string { return a + and + b }

const and = " and "

func twoLevels(metric, file string, m *record.Modes) string {
	return fmt.Sprintf("the %s of %s has two levels, %s and %s; %.0f %% of the time it is at the upper one, with %s between them",
		metric, file, number(m.Low), number(m.High), 100*m.Share, quantity.Count(m.Switches, "change"))
}

func fallsBy(share float64) string { return fmt.Sprintf("falls by %.1f %%", 100*share) }

func risesBy(share float64) string { return fmt.Sprintf("rises by %.1f %%", 100*share) }

func trendOf(metric, file, change string) string {
	return fmt.Sprintf("the %s of %s %s from beginning to end", metric, file, change)
}

func notOfEveryRun(metric, why string) string { return metric + " is missing in some runs: " + why }

func outlierRun(file string, x float64, others int, arm string, mean, p float64) string {
	return fmt.Sprintf("%s says %s, the other %d runs of %s %s on average (Grubbs, p = %.2g)", file, number(x), others, arm, number(mean), p)
}

func claimUnmatched(metric string) caution {
	return caution{"a claim about " + metric + " cannot be checked: both arms have no such figure", "name a metric as the report does"}
}

// claimed is a published change beside what the figures say; both as text in percent.
type claimed struct{ metric, arm, baseline, change, figure string }

func (c claimed) said() string {
	return fmt.Sprintf("a claim says that %s of %s changes by %s", c.metric, c.arm, c.change)
}

func (c claimed) right() string { return "against " + c.baseline + " it is " + c.figure }

func (c claimed) holds() string { return c.said() + ", and it does" }

func (c claimed) wrongBase() string {
	return fmt.Sprintf("%s; that has the wrong base: it is the part of %s's own figure, %s", c.said(), c.arm, c.right())
}

func (c claimed) wrongSign() string {
	return c.said() + "; that is the right size with the sign turned round, " + c.right()
}

func (c claimed) whatIsLeft() string {
	return c.said() + "; that is what is left, not what changed, " + c.right()
}

func (c claimed) turnedRound() string {
	return fmt.Sprintf("%s; that is %s as a part of %s, %s", c.said(), c.baseline, c.arm, c.right())
}

func (c claimed) unfounded() string {
	return c.said() + "; that does not follow from the figures, " + c.right()
}

const (
	claimBaseRemedy = "divide the difference by the baseline"
	claimRemedy     = "give the change against the baseline"
)

// orderUnknown warns of figures whose order is not known; least and most are the runs of
// the arms with fewest and with most.
func orderUnknown(least, most int) caution {
	if least == 1 && most == 1 {
		return caution{"One run per arm, measured one after the other: a drift of the host looks like a loss, so there is no verdict.", runInTurns()}
	}
	text := "The order of the runs is unknown. Where all runs of one arm came first, a drift of the host looks like a loss."
	if least < leastRuns {
		return caution{fmt.Sprintf("%s of an arm: too few for a verdict. %s", quantity.Count(least, "run"), text), runInTurns()}
	}
	return caution{text, "measure in turns (host, pod, host, pod ...), or let tare run do it"}
}

func runInTurns() string {
	return fmt.Sprintf("run each arm at least %d times in turns and import all of it, or let tare run do it", leastRuns)
}

func onlyExcerpt(file string, reports int) caution {
	return caution{fmt.Sprintf("%s holds %s and no summary: it is unknown how they were chosen from the run.", file, quantity.Count(reports, "report line")),
		"import the whole log"}
}

func emptyReports(file string, f record.Figure) caution {
	text := fmt.Sprintf("%s: %d of %d reports have a %s of 0: nothing finished in them", file, f.Stalled, f.Reports, f.Metric)
	if f.Reports == 0 { // one alone is no series
		text = fmt.Sprintf("%s: its %s is 0: nothing finished", file, f.Metric)
	}
	return caution{text, "find out what stalled (a checkpoint, throttling, a lost connection)"}
}

// Names of rules, which effects.json has.
const (
	ruleWaiting     = "waiting for a CPU"
	ruleDearer      = "more CPU time for the same work"
	ruleDisks       = "waiting for disks"
	ruleMemory      = "waiting for memory"
	ruleSteal       = "steal"
	rulePinning     = "pinning concentrates the neighbour's weight"
	ruleWaitsLonger = "waits longer than without isolation"
	rulePriority    = "priority counts only within a group"
	ruleFewerCPUs   = "fewer CPUs than it can use"
	ruleMoved       = "moved between CPUs"
	rulePreempted   = "taken off the CPU"
	ruleThrottled   = "throttled"
	forDisks        = "disks"
	forMemory       = "memory"
)
