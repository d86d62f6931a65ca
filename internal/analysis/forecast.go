package analysis

import (
	"math"
	"slices"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/record"
)

// nearly is the part of the way to a bound that a half-width has to stay within:
// the estimate will move, too.
const nearly = 0.8

// longest is the time in seconds beyond which nothing is foretold: a week.
const longest = 7 * 86400

// halfWidths are what a forecast offers, as ratios.
var halfWidths = []float64{0.20, 0.10, 0.05, 0.02, 0.01, 0.005}

// offered is the most half-widths that a forecast offers.
const offered = 4

// foretell is what more time would buy for the subject of a workload, in every
// metric that is judged. Only what is narrower than now is offered.
func (t *table) foretell(all map[string]*fits) []record.Forecast {
	subject := t.subject()
	judged, _ := t.judgedHere()
	var out []record.Forecast
	for _, name := range judged {
		f := all[name]
		if f == nil || subject == "" || t.whyNot(f, subject, t.load.Baseline) != "" {
			continue
		}
		group, at := t.with(f, subject)
		if at < 0 { // it is not compared, as where no window of the baseline counts
			continue
		}
		cs := t.against(f.typical, group)
		now := math.Expm1(f.typical.Family(cs, 1-t.alpha, len(judged))[at].Half())
		level := f.typical.Alone(cs, 1-t.alpha, len(judged))
		n := 0
		for _, half := range halfWidths {
			if !(half < now) || n == offered {
				continue
			}
			seconds := t.needed(f.typical, cs[at], level, math.Log1p(half))
			if !(seconds > 0 && seconds <= longest) {
				break
			}
			n++
			low, high := t.between(f.typical, cs[at], level, math.Log1p(half))
			out = append(out, record.Forecast{Metric: name, Arm: subject, Half: half, Seconds: seconds, Soonest: low, Latest: high})
		}
	}
	return out
}

// subject is the arm that people ask about: the real container, else the top rung
// of the ladder, else the first arm that is compared; empty without any.
func (t *table) subject() string {
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

// needed is how many more seconds would probably bring the interval of a contrast
// to a half-width; 0 when it has it or when it cannot be foreseen. level is that of
// the contrast alone which keeps the family's.
func (t *table) needed(f *stat.Fit, c []float64, level, half float64) float64 {
	seconds := t.seconds * (f.Forecast(c, level, 1, half) - 1)
	if !(seconds > 0) || math.IsInf(seconds, 0) {
		return 0
	}
	return seconds
}

// between is what needed is in four of five runs; 0 where no end is known.
func (t *table) between(f *stat.Fit, c []float64, level, half float64) (soonest, latest float64) {
	low, high := f.ForecastRange(c, level, 1, half)
	soonest, latest = t.seconds*(low-1), t.seconds*(high-1)
	if !(latest <= longest) {
		return 0, 0
	}
	return max(soonest, 0), latest
}

// ToDecide is how many more seconds would probably bring the whole interval of
// an effect to one side of a bound (a ratio), where seconds of the workload
// brought it to where it is: its width shrinks with the root of time. 0 when it
// cannot be foreseen.
func ToDecide(r *record.Ratio, seconds, bound float64) float64 {
	if r == nil || !(r.High > r.Low && bound > 0) {
		return 0
	}
	half := math.Log(r.High/r.Low) / 2
	to := nearly * math.Abs(math.Log(r.Ratio)-math.Log(bound))
	return rootOfTime(half, to, seconds)
}

// rootOfTime is how many more seconds bring a half-width that took so many to
// another, if it shrinks with the root of time; 0 when it is there or never will be.
func rootOfTime(half, to, seconds float64) float64 {
	if !(to > 0) || half <= to || math.IsInf(half, 0) {
		return 0
	}
	return seconds * ((half/to)*(half/to) - 1)
}
