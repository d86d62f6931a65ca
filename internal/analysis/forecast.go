package analysis

import (
	"cmp"
	"math"
	"slices"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/record"
)

// nearly is the part of the distance to a bound that a half-width may take: the estimate
// will move, too.
const nearly = 0.8

// longest is the longest forecast in seconds: a week.
const longest = 7 * 86400

// halfWidths are the precisions that a forecast offers, as ratios.
var halfWidths = []float64{0.20, 0.10, 0.05, 0.02, 0.01, 0.005}

// offered is the largest number of half-widths in a forecast.
const offered = 4

// foretell returns the time that narrower intervals of the subject would take, in every
// metric that is judged.
func (t *table) foretell(all map[string]*fits, shares map[string]share) []record.Forecast {
	judged, _ := t.judgedHere()
	var out []record.Forecast
	for _, name := range judged {
		f := all[name]
		if f == nil {
			continue
		}
		subject := t.subject(f)
		group, at := f.groupOf(subject)
		if at < 0 || !t.whyNot(f, subject, t.load.Baseline).IsZero() {
			continue
		}
		fit, _ := t.between(f, subject, t.load.Baseline)
		cs := t.against(fit, group)
		level := fit.Alone(cs, 1-t.alpha*shares[name].arm(subject))
		now := math.Expm1(fit.Interval(cs[at], level).Half())
		n := 0
		for _, half := range halfWidths {
			if !(half < now) || n == offered {
				continue
			}
			seconds := t.needed(fit, cs[at], level, math.Log1p(half))
			if !(seconds > 0 && seconds <= longest) {
				break
			}
			n++
			low, high := t.range80(fit, cs[at], level, math.Log1p(half))
			out = append(out, record.Forecast{Metric: name, Arm: subject, Half: half, Seconds: seconds, Soonest: low, Latest: high})
		}
	}
	return out
}

// subject is the arm that is asked about in a metric: the question, else see topRung.
func (t *table) subject(f *fits) string { return cmp.Or(f.question, t.topRung()) }

// topRung is the subject of a workload whose plan has no question, or whose question was
// withdrawn: the real container, else the top rung of the ladder, else the first arm that is
// compared; empty without any.
func (t *table) topRung() string {
	var steps []string
	for _, a := range t.load.Arms {
		if a.Remainder {
			return a.Name
		}
		steps = append(steps, a.Step)
	}
	first := ""
	for _, a := range t.load.Arms {
		if a.Name == t.load.Baseline || a.Twin {
			continue
		}
		if a.Step != "" && !slices.Contains(steps, a.Name) {
			return a.Name
		}
		if first == "" {
			first = a.Name
		}
	}
	return first
}

// needed returns how many more seconds would probably bring the interval of a contrast to a
// half-width; 0 where the interval is narrower already, or the time cannot be foretold.
// level is the level of the contrast alone at which the family keeps its own.
func (t *table) needed(f *stat.Fit, c []float64, level, half float64) float64 {
	seconds := t.seconds * (f.Forecast(c, level, half) - 1)
	if !(seconds > 0) || math.IsInf(seconds, 0) {
		return 0
	}
	return seconds
}

// range80 is the range of needed in four of five runs; 0 where it has no upper end.
func (t *table) range80(f *stat.Fit, c []float64, level, half float64) (soonest, latest float64) {
	low, high := f.ForecastRange(c, level, half)
	soonest, latest = t.seconds*(low-1), t.seconds*(high-1)
	if !(latest <= longest) {
		return 0, 0
	}
	return max(soonest, 0), latest
}

// ToDecide returns how many more seconds would probably bring the whole interval of an
// effect to one side of a bound (a ratio), given that it took the workload seconds so far:
// the width shrinks with the root of time. 0 where the time cannot be foretold.
func ToDecide(r *record.Ratio, seconds, bound float64) float64 {
	if r == nil || !r.Known() || !(bound > 0) {
		return 0
	}
	half := math.Log(r.High/r.Low) / 2
	to := nearly * math.Abs(math.Log(r.Ratio)-math.Log(bound))
	return rootOfTime(half, to, seconds)
}

// rootOfTime returns how many more seconds bring a half-width from half, which took seconds,
// to another, if it shrinks with the root of time; 0 where it is as narrow already, or the
// goal is 0.
func rootOfTime(half, to, seconds float64) float64 {
	if !(to > 0) || half <= to || math.IsInf(half, 0) {
		return 0
	}
	return seconds * ((half/to)*(half/to) - 1)
}
