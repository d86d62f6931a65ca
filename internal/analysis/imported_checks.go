package analysis

import (
	"math"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/record"
)

// rare is the p-value below which a trend or an outlier is named.
const rare = 0.01

// checks returns the checks of imported runs.
func (t *imported) checks() []record.Checks {
	return slices.Concat(t.settings(), t.levels(), t.trends(), t.outliers())
}

// settings compares the settings of every arm with the baseline's. An arm whose load has
// other settings is invalid; other differences, as of versions, fail the check only: they may
// be what the user compares.
func (t *imported) settings() []record.Checks {
	var out []record.Checks
	var compared []string
	for _, a := range t.load.Arms {
		if a.Name == t.load.Baseline {
			continue
		}
		load, n := t.different(a.Name, func(o *record.Observed) []record.Setting { return o.Load })
		other, m := t.different(a.Name, func(o *record.Observed) []record.Setting { return o.Other })
		for _, name := range slices.Concat(n, m) {
			if !slices.Contains(compared, name) {
				compared = append(compared, name)
			}
		}
		if len(load) > 0 {
			t.differ[a.Name] = otherLoad(load)
		}
		if all := slices.Concat(load, other); len(all) > 0 {
			out = append(out, record.Checks{Kind: "settings", Known: true, Subject: a.Name, Text: settingsDiffer(all),
				Remedy: settingsRemedy})
		}
	}
	switch {
	case len(out) > 0 || len(t.load.Arms) < 2:
		return out
	case len(compared) > 0:
		return []record.Checks{{Kind: "settings", OK: true, Known: true, Text: settingsAlike(compared)}}
	}
	why := settingsUnsaid
	if t.says() {
		why = settingsUnshared
	}
	return []record.Checks{{Kind: "settings", Text: why}}
}

// says reports whether a run names a setting.
func (t *imported) says() bool {
	for _, runs := range t.runs {
		if slices.ContainsFunc(runs, func(o *record.Observed) bool { return len(o.Load)+len(o.Other) > 0 }) {
			return true
		}
	}
	return false
}

// different returns the settings in which an arm differs from the baseline, and the
// names of those that both have.
func (t *imported) different(arm string, of func(*record.Observed) []record.Setting) (parts []record.Said, compared []string) {
	own, base := collect(t.runs[arm], of), collect(t.runs[t.load.Baseline], of)
	for _, s := range base {
		i := slices.IndexFunc(own, func(x record.Setting) bool { return x.Name == s.Name })
		if i < 0 {
			continue
		}
		compared = append(compared, s.Name)
		if own[i].Got != s.Got {
			parts = append(parts, settingDiffers(s.Name, own[i].Got, t.load.Baseline, s.Got))
		}
	}
	return parts, compared
}

// collect returns the settings of some runs. Where runs differ, the setting has all values.
func collect(runs []*record.Observed, of func(*record.Observed) []record.Setting) []record.Setting {
	var out []record.Setting
	for _, o := range runs {
		for _, s := range of(o) {
			i := slices.IndexFunc(out, func(x record.Setting) bool { return x.Name == s.Name })
			if i < 0 {
				out = append(out, s)
			} else if !slices.Contains(strings.Split(out[i].Got, and), s.Got) {
				out[i].Got = bothValues(out[i].Got, s.Got)
			}
		}
	}
	return out
}

// primaries returns the series of the primary metric.
func (t *imported) primaries() []single {
	return slices.DeleteFunc(slices.Clone(t.series), func(s single) bool { return s.Metric != t.load.Primary })
}

// levels finds runs whose series has two levels.
func (t *imported) levels() []record.Checks {
	out := record.Checks{Kind: "two levels", Text: fewForLevels}
	var found []record.Checks
	for _, s := range t.primaries() {
		if len(s.bins) >= 10 {
			out = record.Checks{Kind: out.Kind, OK: true, Known: true}
		}
		if m := s.Modes; m != nil {
			found = append(found, record.Checks{Kind: out.Kind, Known: true, Subject: s.Arm,
				Text:   twoLevels(t.load.Primary, s.File, m),
				Remedy: levelsRemedy})
		}
	}
	return orElse(found, out)
}

// changeFromStart is the change of a line over its length, as a part of its value at the
// start; infinite if that is nothing. mean is its value in the middle.
func changeFromStart(mean, change float64) float64 {
	begin := mean - change/2
	switch {
	case change < 0:
		return math.Max(-1, change/begin)
	case begin <= 0:
		return math.Inf(1)
	}
	return change / begin
}

// trends finds runs with a trend.
func (t *imported) trends() []record.Checks {
	out := record.Checks{Kind: "trend", Text: fewForTrend}
	var found []record.Checks
	for _, s := range t.primaries() {
		e := stat.Trend(s.bins)
		if !e.Known() || s.batched.Mean == 0 {
			if len(s.bins) >= 20 && !out.Known {
				out.Text = reportsDepend
			}
			continue
		}
		out = record.Checks{Kind: out.Kind, OK: true, Known: true}
		if !(e.PValue() < rare) || math.Abs(e.Mean/s.batched.Mean) < t.out.Margin {
			continue
		}
		found = append(found, record.Checks{Kind: out.Kind, Known: true, Subject: s.Arm,
			Text:   trendOf(t.load.Primary, s.File, changeFromStart(s.batched.Mean, e.Mean)),
			Remedy: trendRemedy})
	}
	return orElse(found, out)
}

// outliers finds a run that differs from the others of its arm (Grubbs' test).
func (t *imported) outliers() []record.Checks {
	out := record.Checks{Kind: "outlier run", Text: fewForOutlier}
	var found []record.Checks
	for _, a := range t.load.Arms {
		v, _, why := t.values(t.load.Primary, a.Name)
		if !why.IsZero() && len(t.runs[a.Name]) >= 4 && !out.Known {
			out.Text = notOfEveryRun(t.load.Primary, why)
		}
		if !why.IsZero() || len(v[0]) < 4 {
			continue
		}
		out = record.Checks{Kind: out.Kind, OK: true, Known: true}
		i, p := stat.Grubbs(logs(v[0]))
		if !(p < rare) || quantised(v[0], i) {
			continue
		}
		rest := slices.Delete(slices.Clone(v[0]), i, i+1)
		if math.Abs(v[0][i]/stat.Mean(rest).Mean-1) < t.out.Margin {
			continue
		}
		found = append(found, record.Checks{Kind: out.Kind, Known: true, Subject: a.Name,
			Text:   outlierRun(t.runs[a.Name][i].File, v[0][i], len(rest), a.Name, stat.Mean(rest).Mean, p),
			Remedy: outlierRemedy})
	}
	return orElse(found, out)
}

// quantised reports that figures are equal to the last digit and the outlier is not far from them: redis-benchmark divides
// by whole milliseconds, so its rates lie on a coarse scale and their scatter says nothing about the distance of two.
func quantised(x []float64, outlier int) bool {
	const far = 0.1 // an outlier this far away is one, whatever the scale
	rest := slices.Delete(slices.Clone(x), outlier, outlier+1)
	distinct := slices.Compact(slices.Sorted(slices.Values(rest)))
	return len(distinct) < len(rest) && math.Abs(x[outlier]/stat.Median(rest)-1) < far
}

// orElse returns the checks that found something, or else the one that none did.
func orElse(found []record.Checks, none record.Checks) []record.Checks {
	if len(found) > 0 {
		return found
	}
	return []record.Checks{none}
}
