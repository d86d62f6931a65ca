package analysis

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/record"
)

// rare is the p-value below which a trend or an outlier is named.
const rare = 0.01

// checks is what readers of logs miss.
func (t *imported) checks() []record.Checks {
	return slices.Concat(t.settings(), t.levels(), t.trends(), t.outliers())
}

// settings compares the load's settings of every arm with the baseline's. An arm
// under another load cannot be judged; a different version may well be the cause.
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
		if load != "" {
			t.differ[a.Name] = "it ran another load: " + load
		}
		if text := strings.Join(slices.DeleteFunc([]string{load, other}, func(s string) bool { return s == "" }), "; "); text != "" {
			out = append(out, record.Checks{Kind: "settings", Known: true, Subject: a.Name, Text: text,
				Remedy: "run both arms with the same settings and the same versions"})
		}
	}
	switch {
	case len(out) > 0 || len(t.load.Arms) < 2:
		return out
	case len(compared) > 0:
		return []record.Checks{{Kind: "settings", OK: true, Known: true, Text: "the same in all arms: " + strings.Join(compared, ", ")}}
	}
	why := "the outputs do not say under which settings the runs were made"
	if t.says() {
		why = "no setting is named by the outputs of two arms"
	}
	return []record.Checks{{Kind: "settings", Text: why}}
}

// says says that a run names a setting.
func (t *imported) says() bool {
	for _, runs := range t.runs {
		if slices.ContainsFunc(runs, func(o *record.Observed) bool { return len(o.Load)+len(o.Other) > 0 }) {
			return true
		}
	}
	return false
}

// different names the settings that an arm has otherwise than the baseline, and
// those that both say.
func (t *imported) different(arm string, of func(*record.Observed) []record.Setting) (text string, compared []string) {
	own, base := collect(t.runs[arm], of), collect(t.runs[t.load.Baseline], of)
	var parts []string
	for _, s := range base {
		i := slices.IndexFunc(own, func(x record.Setting) bool { return x.Name == s.Name })
		if i < 0 {
			continue
		}
		compared = append(compared, s.Name)
		if own[i].Got != s.Got {
			parts = append(parts, fmt.Sprintf("%s: %s, in %s %s", s.Name, own[i].Got, t.load.Baseline, s.Got))
		}
	}
	return strings.Join(parts, "; "), compared
}

// collect joins the different values of each setting over runs.
func collect(runs []*record.Observed, of func(*record.Observed) []record.Setting) []record.Setting {
	var out []record.Setting
	for _, o := range runs {
		for _, s := range of(o) {
			i := slices.IndexFunc(out, func(x record.Setting) bool { return x.Name == s.Name })
			if i < 0 {
				out = append(out, s)
			} else if !slices.Contains(strings.Split(out[i].Got, " and "), s.Got) {
				out[i].Got += " and " + s.Got
			}
		}
	}
	return out
}

// primaries are the series of the primary metric.
func (t *imported) primaries() []single {
	return slices.DeleteFunc(slices.Clone(t.series), func(s single) bool { return s.Metric != t.load.Primary })
}

// levels finds runs that have two.
func (t *imported) levels() []record.Checks {
	out := record.Checks{Kind: "two levels", Text: "fewer than ten reports on the way"}
	var found []record.Checks
	for _, s := range t.primaries() {
		if len(s.bins) >= 10 {
			out = record.Checks{Kind: out.Kind, OK: true, Known: true}
		}
		if m := s.Modes; m != nil {
			found = append(found, record.Checks{Kind: out.Kind, Known: true, Subject: s.Arm,
				Text: fmt.Sprintf("the %s of %s has two levels, %s and %s; %.0f %% of the time it is at the upper one, with %s between them",
					t.load.Primary, s.File, number(m.Low), number(m.High), 100*m.Share, quantity.Count(m.Switches, "change")),
				Remedy: "find out what changes with it (placement on CPUs, frequency, a neighbour): a mean of two levels describes neither"})
		}
	}
	return orElse(found, out)
}

// fromItsBeginning says by how much of its beginning a line through a mean changes.
func fromItsBeginning(mean, change float64) string {
	begin := mean - change/2
	switch {
	case change < 0:
		return fmt.Sprintf("falls by %.1f %%", 100*math.Min(1, -change/begin))
	case begin <= 0:
		return "rises from nearly nothing"
	}
	return fmt.Sprintf("rises by %.1f %%", 100*change/begin)
}

// trends finds runs that end elsewhere than they began.
func (t *imported) trends() []record.Checks {
	out := record.Checks{Kind: "trend", Text: "fewer than twenty reports on the way"}
	var found []record.Checks
	for _, s := range t.primaries() {
		e := stat.Trend(s.bins)
		if !e.Known() || s.batched.Mean == 0 {
			if len(s.bins) >= 20 && !out.Known {
				out.Text = "the reports follow too closely from one another"
			}
			continue
		}
		out = record.Checks{Kind: out.Kind, OK: true, Known: true}
		if !(e.PValue() < rare) || math.Abs(e.Mean/s.batched.Mean) < t.out.Margin {
			continue
		}
		found = append(found, record.Checks{Kind: out.Kind, Known: true, Subject: s.Arm,
			Text:   fmt.Sprintf("the %s of %s %s from beginning to end", t.load.Primary, s.File, fromItsBeginning(s.batched.Mean, e.Mean)),
			Remedy: "the mean depends on when the run ended: leave the warm-up out, or run until it is level"})
	}
	return orElse(found, out)
}

// outliers finds a run that does not belong to the others of its arm.
func (t *imported) outliers() []record.Checks {
	out := record.Checks{Kind: "outlier run", Text: "fewer than four runs of an arm"}
	var found []record.Checks
	for _, a := range t.load.Arms {
		v, _, why := t.values(t.load.Primary, a.Name)
		if why != "" && len(t.runs[a.Name]) >= 4 && !out.Known {
			out.Text = t.load.Primary + " is not known of every run: " + why
		}
		if why != "" || len(v[0]) < 4 {
			continue
		}
		out = record.Checks{Kind: out.Kind, OK: true, Known: true}
		i, p := stat.Grubbs(logs(v[0]))
		if !(p < rare) {
			continue
		}
		rest := slices.Delete(slices.Clone(v[0]), i, i+1)
		found = append(found, record.Checks{Kind: out.Kind, Known: true, Subject: a.Name,
			Text: fmt.Sprintf("%s says %s, the other %d runs of %s %s on average (Grubbs, p = %.2g)",
				t.runs[a.Name][i].File, number(v[0][i]), len(rest), a.Name, number(stat.Mean(rest).Mean), p),
			Remedy: "find out what happened to it; leave it out only for a reason that does not look at the result"})
	}
	return orElse(found, out)
}

// orElse is the checks that found something, or the one that says that none did.
func orElse(found []record.Checks, none record.Checks) []record.Checks {
	if len(found) > 0 {
		return found
	}
	return []record.Checks{none}
}

// number prints a figure to four digits without an exponent.
func number(x float64) string {
	if a := math.Abs(x); a >= 1000 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}
