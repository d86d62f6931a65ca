package analysis

import (
	"math"

	"github.com/tarelab/tare/internal/analysis/observe"
	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// Two modes over time: an arm that works at one speed for a while and then at another, so
// that its mean describes neither. A change that all arms of a block share comes from the
// host and is subtracted first.

// fewestOthers is the least number of other arms from which the change of a block is
// estimated: of two, one with two modes would move their median.
const fewestOthers = 3

// likely is a factor: two levels are found in 98 % of the cases (simulated in package stat) if their
// distance is likely times the smallest one that can be found.
const likely = 1.25

// modes looks for two modes in every arm of a workload. Modes that are no farther apart than the margin are none: a mean
// describes both.
func modes(t *table, margin float64) []record.ArmModes {
	m, ok := t.seriesMetric()
	if !ok || len(t.rows) == 0 {
		return nil
	}
	y := levelled(t, m)
	var all []record.ArmModes
	for _, arm := range t.arms {
		all = append(all, t.modesOf(arm, m, y, margin))
	}
	return all
}

// levelled is the logarithm of the metric minus the arm's median, by arm and row; NaN without a window.
func levelled(t *table, m measure) map[string][]float64 {
	all := map[string][]float64{}
	for _, arm := range t.arms {
		y := make([]float64, len(t.rows))
		var known []float64
		for i, r := range t.rows {
			y[i] = math.NaN()
			if w := t.at(&r, arm); w != nil {
				y[i] = m.log(w)
			}
			if !math.IsNaN(y[i]) {
				known = append(known, y[i])
			}
		}
		mid := stat.Median(known)
		for i := range y {
			y[i] -= mid
		}
		all[arm] = y
	}
	return all
}

// sharedChange is the change of a block that all arms share: the median of the other arms. It is NaN if
// there are fewer than fewestOthers.
func sharedChange(y map[string][]float64, row int, arm string) float64 {
	var others []float64
	for name, x := range y {
		if name != arm && !math.IsNaN(x[row]) {
			others = append(others, x[row])
		}
	}
	if len(others) < fewestOthers {
		return math.NaN()
	}
	return stat.Median(others)
}

// modesOf looks for two modes in one arm.
func (t *table) modesOf(arm string, m measure, y map[string][]float64, margin float64) record.ArmModes {
	out := record.ArmModes{Workload: t.load.Name, Arm: arm, Metric: m.Name, Unit: m.Unit}
	var series []stat.Timed
	var windows []*window
	level := 0.0
	for i, r := range t.rows {
		w, shared := t.at(&r, arm), sharedChange(y, i, arm)
		if w == nil || math.IsNaN(y[arm][i]) || math.IsNaN(shared) {
			continue
		}
		own := m.log(w)
		level = own - y[arm][i] // the same in every window
		x := stat.Timed{Y: y[arm][i] - shared, Launch: r.launch, First: math.NaN(), Second: math.NaN()}
		if m.Name == metric.Throughput.Name {
			x.First = halfOf(w, true) - level - shared
			x.Second = halfOf(w, false) - level - shared
		}
		series, windows = append(series, x), append(windows, w)
	}
	out.Windows = len(series)
	apart := stat.ApartOverTime(len(series))
	if math.IsInf(apart, 0) {
		out.Reason = fewForModes
		return out
	}
	found, two := stat.ModesOverTime(series)
	if !two || math.Abs(found.Low-found.High) <= math.Log1p(margin) {
		out.Detectable = finite(math.Expm1(likely * apart * scatter(series)))
		return out
	}
	slow, fast := split(series, windows, found, m.Better)
	low, high := slow, fast
	if m.Better < 0 {
		low, high = fast, slow
	}
	out.Modes = &record.Modes{Low: typicalOf(low, m), High: typicalOf(high, m), Share: found.Share, Switches: found.Switches}
	out.Apart = math.Exp(found.Low - found.High)
	out.Differ = t.tellApart(slow, fast)
	return out
}

// halfOf is the logarithm of the rate in the first or second half of a window.
func halfOf(w *window, first bool) float64 {
	if first {
		return stat.LogRatio(float64(w.first)/w.firstSeconds, 1)
	}
	return stat.LogRatio(float64(w.ops-w.first)/(w.seconds-w.firstSeconds), 1)
}

// scatter is the standard deviation of the windows.
func scatter(x []stat.Timed) float64 {
	y := make([]float64, len(x))
	for i := range x {
		y[i] = x[i].Y
	}
	e := stat.Mean(y)
	return e.SE * math.Sqrt(float64(e.N))
}

// split divides the windows by mode.
func split(x []stat.Timed, windows []*window, m stat.Modes, better int) (slow, fast []*window) {
	for i, w := range windows {
		if (x[i].Y >= m.Cut) == (better > 0) {
			fast = append(fast, w)
		} else {
			slow = append(slow, w)
		}
	}
	return slow, fast
}

func typicalOf(ws []*window, m measure) float64 {
	var y []float64
	for _, w := range ws {
		y = append(y, m.log(w))
	}
	return math.Exp(stat.Median(y))
}

// indicators are the observations that are higher at a slower speed. Observations that are lower because less work is
// done are not among them.
var indicators = observe.Table(func(o observe.Observation) bool { return !o.Speeds.None() })

// shownAt is the level of a difference between modes, over all indicators together
// (Bonferroni).
const shownAt = 0.01

// tellApart returns the indicators that are higher in the slower windows.
func (t *table) tellApart(slow, fast []*window) []record.ModeDifference {
	var out []record.ModeDifference
	for _, i := range indicators {
		a, b := t.observedIn(slow, i.Name), t.observedIn(fast, i.Name)
		e := apartBy(a, b)
		if !e.Known() || e.Mean <= 0 {
			continue
		}
		p := math.Min(1, e.PValue()*float64(len(indicators)))
		x, y := stat.Mean(a).Mean, stat.Mean(b).Mean
		if p >= shownAt || !i.Counts(x, y) {
			continue
		}
		d := record.ModeDifference{Metric: i.Name, Unit: observe.Unit(i.Name), Per: "second", Slow: x, Fast: y, P: p, Text: i.Speeds.Say(x, y)}
		if probe, ok := observe.Cut(i.Name); ok {
			d.Metric, d.Per = probe, "operation"
		}
		out = append(out, d)
	}
	if len(out) == 0 {
		return t.fewerCPUs(slow, fast)
	}
	return out
}

// fewerCPUs compares the CPU time of the modes, if no indicator differs. Less CPU time is usually a
// consequence of less work. But a limit that no probe counts, such as a set of CPUs, shows only in it.
func (t *table) fewerCPUs(slow, fast []*window) []record.ModeDifference {
	a, b := t.observedIn(slow, cpuMetric), t.observedIn(fast, cpuMetric)
	e := apartBy(b, a)
	x, y := stat.Mean(a).Mean, stat.Mean(b).Mean
	if !e.Known() || y-x < observe.ATwentieth || e.PValue() >= shownAt {
		return nil
	}
	return []record.ModeDifference{{
		Metric: cpuMetric, Unit: "s", Per: "second", Slow: x, Fast: y, P: e.PValue(),
		Text: observe.FewerCPUs.Say(x, y),
	}}
}

// apartBy is the difference of two means (Welch). If one side is constant, for example without any
// throttling, the standard error is that of the other side.
func apartBy(a, b []float64) stat.Estimate {
	x, y := stat.Mean(a), stat.Mean(b)
	switch {
	case len(a) < 2 || len(b) < 2:
		return stat.Estimate{}
	case x.Known() && !y.Known():
		x.Mean -= y.Mean
		return x
	case y.Known() && !x.Known():
		y.Mean = x.Mean - y.Mean
		return y
	}
	return stat.Difference(x, y)
}

// observedIn returns the observations of the windows that have one. The CPU time of a
// neighbour counts only in windows with a neighbour.
func (t *table) observedIn(ws []*window, name string) []float64 {
	var out []float64
	for _, w := range ws {
		if name == observe.NeighbourCPU && !w.beside {
			continue
		}
		if x := t.observed(w, name); !math.IsNaN(x) {
			out = append(out, x)
		}
	}
	return out
}
