package analysis

import (
	"math"

	"github.com/tarelab/tare/record"
)

// Imported figures.

// runsFromTo is the number of an arm's runs with their smallest and largest figure.
func runsFromTo(runs int, least, most float64) record.Said {
	return record.Say("runs_from_to", "runs", runs, "low", least, "high", most)
}

func importedTitle(runs int, seconds float64, hosts int) record.Said {
	switch {
	case seconds < 1 && hosts > 1:
		return record.Say("imported_on_machines", "runs", runs, "hosts", hosts)
	case seconds < 1:
		return record.Say("imported_runs", "runs", runs)
	}
	return record.Say("imported_together", "runs", runs, "seconds", seconds)
}

var (
	settingsRemedy   = record.Say("same_settings")
	settingsUnsaid   = record.Say("settings_unsaid")
	settingsUnshared = record.Say("settings_unshared")
	fewForLevels     = record.Say("few_reports_for_levels")
	levelsRemedy     = record.Say("find_levels")
	fewForTrend      = record.Say("few_reports_for_trend")
	reportsDepend    = record.Say("reports_depend")
	trendRemedy      = record.Say("run_until_level")
	fewForOutlier    = record.Say("few_runs_for_outlier")
	outlierRemedy    = record.Say("find_outlier")
	claimBaseRemedy  = record.Say("divide_by_baseline")
	claimRemedy      = record.Say("change_against_baseline")
)

func settingsAlike(names []string) record.Said {
	return record.Say("settings_alike", "settings", names)
}

func settingsDiffer(differences []record.Said) record.Said {
	return record.Say("settings_differ", "differences", differences)
}

func settingDiffers(name, own, baseline, base string) record.Said {
	return record.Say("setting_differs", "setting", name, "own", own, "baseline", baseline, "other", base)
}

// bothValues are two values of one setting.
func bothValues(a, b string) string { return a + and + b }

const and = " and "

func twoLevels(metric, file string, m *record.Modes) record.Said {
	return record.Say("two_levels", "metric", metric, "file", file, "low", m.Low, "high", m.High, "share", m.Share, "changes", m.Switches)
}

// trendOf says by which share of its value at the start a figure changes.
func trendOf(metric, file string, share float64) record.Said {
	switch {
	case math.IsInf(share, 0):
		return record.Say("trend_from_nothing", "metric", metric, "file", file)
	case share < 0:
		return record.Say("trend_falls", "metric", metric, "file", file, "share", -share)
	}
	return record.Say("trend_rises", "metric", metric, "file", file, "share", share)
}

func notOfEveryRun(metric string, why record.Said) record.Said {
	return record.Say("not_of_every_run", "metric", metric, "why", why)
}

func outlierRun(file string, x float64, others int, arm string, mean, p float64) record.Said {
	return record.Say("outlier_run", "file", file, "value", x, "others", others, "arm", arm, "mean", mean, "p", p)
}

func claimUnmatched(metric string) caution {
	return caution{record.Say("claim_unmatched", "metric", metric), record.Say("name_reported_metric")}
}

// percent is a change that is printed with a number of decimals.
type percent struct {
	Ratio    float64 `json:"ratio"`
	Decimals int     `json:"decimals"`
}

// asPercent is a change with the decimals of a digit, the value of its last decimal as a ratio.
func asPercent(x, digit float64) percent {
	return percent{x, max(0, int(math.Round(-math.Log10(digit)))-2)}
}

// claimed is a published change beside what the figures say.
type claimed struct {
	metric, arm, baseline string
	change, figure        percent
}

func (c claimed) holds() record.Said {
	return record.Say("claim_holds", "metric", c.metric, "arm", c.arm, "change", c.change)
}

func (c claimed) wrongBase() record.Said {
	return record.Say("claim_wrong_base", "metric", c.metric, "arm", c.arm, "change", c.change, "baseline", c.baseline, "figure", c.figure)
}

func (c claimed) wrongSign() record.Said {
	return record.Say("claim_wrong_sign", "metric", c.metric, "arm", c.arm, "change", c.change, "baseline", c.baseline, "figure", c.figure)
}

func (c claimed) whatIsLeft() record.Said {
	return record.Say("claim_what_is_left", "metric", c.metric, "arm", c.arm, "change", c.change, "baseline", c.baseline, "figure", c.figure)
}

func (c claimed) turnedRound() record.Said {
	return record.Say("claim_turned_round", "metric", c.metric, "arm", c.arm, "change", c.change, "baseline", c.baseline, "figure", c.figure)
}

func (c claimed) unfounded() record.Said {
	return record.Say("claim_unfounded", "metric", c.metric, "arm", c.arm, "change", c.change, "baseline", c.baseline, "figure", c.figure)
}

// orderUnknown warns of figures whose order is not known; least and most are the runs of
// the arms with fewest and with most.
func orderUnknown(least, most int) caution {
	again := record.Say("import_more_runs", "needed", leastRuns)
	switch {
	case least == 1 && most == 1:
		return caution{record.Say("one_run_each"), again}
	case least < leastRuns:
		return caution{record.Say("few_runs_unordered", "runs", least), again}
	}
	return caution{record.Say("order_unknown"), record.Say("measure_in_turns")}
}

func onlyExcerpt(file string, reports int) caution {
	return caution{record.Say("only_excerpt", "file", file, "reports", reports), record.Say("import_whole_log")}
}

func onlyExcerpts(files int) caution {
	return caution{record.Say("only_excerpts", "files", files), record.Say("import_whole_logs")}
}

func emptyReports(file string, f record.Figure) caution {
	text := record.Say("empty_reports", "file", file, "empty", f.Stalled, "reports", f.Reports, "metric", f.Metric)
	if f.Reports == 0 { // one alone is no series
		text = record.Say("empty_figure", "file", file, "metric", f.Metric)
	}
	return caution{text, record.Say("find_stall")}
}
