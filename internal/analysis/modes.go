package analysis

import (
	"fmt"
	"math"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// Two modes over time: an arm that works at one speed for a while and then at
// another has a mean that describes neither. What moves all arms of a block alike
// is the host's and is taken out first.

// fewestOthers is how many other arms say what a block has moved: one alone might
// be the one with two modes.
const fewestOthers = 2

// likely is by how much two levels must be further apart than what shows them, to
// be found nearly always (simulated in package stat: 98 %).
const likely = 1.25

// modes looks at every arm of a workload.
func modes(t *table) []record.ArmModes {
	m, ok := t.seriesMetric()
	if !ok || len(t.rows) == 0 {
		return nil
	}
	y := levelled(t, m)
	var all []record.ArmModes
	for _, arm := range t.arms {
		all = append(all, t.modesOf(arm, m, y))
	}
	return all
}

// levelled is the logarithm of the metric, by arm and row, without what is typical
// of the arm; NaN where there is none.
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

// moved is by how much a block has moved the other arms; NaN where too few say so.
func moved(y map[string][]float64, row int, arm string) float64 {
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

// modesOf looks at one arm.
func (t *table) modesOf(arm string, m measure, y map[string][]float64) record.ArmModes {
	out := record.ArmModes{Workload: t.load.Name, Arm: arm, Metric: m.Name, Unit: m.Unit}
	var series []stat.Timed
	var windows []*window
	level := 0.0
	for i, r := range t.rows {
		w, shared := t.at(&r, arm), moved(y, i, arm)
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
		out.Reason = "too few windows to tell, or too few arms beside it"
		return out
	}
	found, two := stat.ModesOverTime(series)
	if !two {
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

// halfOf is the logarithm of the rate of a half of a window.
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

// split sorts the windows by mode, the slower first.
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

// indicator is an observation that may tell one mode from another.
type indicator struct {
	name string // as observed reads it
	// least is the least difference per second that matters, or, where it is 0, a
	// tenth more does.
	least float64
	text  func(slow, fast float64) string
}

// indicators are what is worse in a slower mode, in the order in which it is told. What
// merely follows from doing less is not among them.
var indicators = []indicator{
	{throttled, aTwentieth, each("its CPU quota held it back for %s a second (%s in the faster)")},
	{waiting, aTwentieth, each("its threads waited %s a second for a CPU (%s in the faster)")},
	{stolen, aTwentieth, each("the hypervisor took %s of CPU time a second (%s in the faster)")},
	{foreign, aTwentieth, each("others on the host used %s of CPU time a second (%s in the faster)")},
	{neighbourCPU, aTwentieth, each("the neighbour used %s of CPU time a second (%s in the faster)")},
	{stalledIO, aTwentieth, each("some of its threads waited for disks in %s of every second (%s in the faster)")},
	{stalledMem, aTwentieth, each("some of its threads waited for memory in %s of every second (%s in the faster)")},
	{cpuPerTask, 0, each("an operation took %s of CPU time (%s in the faster): the clock, caches, or what shares the core")},
	{migrations, 0, counted("its threads were moved to another CPU %s times an operation (%s in the faster)")},
	{preempted, 0, counted("its threads were taken off their CPU %s times an operation (%s in the faster)")},
	{majorFaults, 0, counted("%s pages an operation were read from a disk (%s in the faster)")},
}

// Observations that only indicators read.
const (
	foreign     = "cpu.foreign"
	majorFaults = "faults.major" + perOp
)

func each(format string) func(slow, fast float64) string {
	return func(slow, fast float64) string { return fmt.Sprintf(format, seconds(slow), seconds(fast)) }
}

func counted(format string) func(slow, fast float64) string {
	return func(slow, fast float64) string { return fmt.Sprintf(format, figure(slow), figure(fast)) }
}

// shownAt is the level at which a difference between modes is told, over all indicators
// together (Bonferroni).
const shownAt = 0.01

// tellApart are the indicators of which the slower windows show more.
func (t *table) tellApart(slow, fast []*window) []record.ModeDifference {
	var out []record.ModeDifference
	for _, i := range indicators {
		a, b := t.observedIn(slow, i.name), t.observedIn(fast, i.name)
		e := apartBy(a, b)
		if !e.Known() || e.Mean <= 0 {
			continue
		}
		p := math.Min(1, e.PValue()*float64(len(indicators)))
		x, y := stat.Mean(a).Mean, stat.Mean(b).Mean
		large := x-y >= i.least && i.least > 0 || i.least == 0 && x >= aTenth*y
		if p >= shownAt || !large {
			continue
		}
		d := record.ModeDifference{Metric: i.name, Unit: "s", Per: "second", Slow: x, Fast: y, P: p, Text: i.text(x, y)}
		if base, ok := cutPerOp(i.name); ok {
			d.Metric, d.Per = base, "operation"
			if i.name != cpuPerTask {
				d.Unit = "1"
			}
		}
		out = append(out, d)
	}
	if len(out) == 0 {
		return t.fewerCPUs(slow, fast)
	}
	return out
}

// fewerCPUs is told where nothing else is: less CPU time follows from doing less,
// but a limit that no probe counts, on the CPUs for example, shows in it alone.
func (t *table) fewerCPUs(slow, fast []*window) []record.ModeDifference {
	a, b := t.observedIn(slow, CPUMetric), t.observedIn(fast, CPUMetric)
	e := apartBy(b, a)
	x, y := stat.Mean(a).Mean, stat.Mean(b).Mean
	if !e.Known() || y-x < aTwentieth || e.PValue() >= shownAt {
		return nil
	}
	return []record.ModeDifference{{
		Metric: CPUMetric, Unit: "s", Per: "second", Slow: x, Fast: y, P: e.PValue(),
		Text: each("it used %s of CPU time a second (%s in the faster): it was kept from CPUs, or from work, by what no probe counts")(x, y),
	}}
}

// apartBy is the difference of two means (Welch). Where one side always says the
// same, no throttling for example, the other's scatter is all there is.
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

// observedIn are the observations of the windows that have one. A neighbour that is not
// there is not looked at.
func (t *table) observedIn(ws []*window, name string) []float64 {
	var out []float64
	for _, w := range ws {
		if name == neighbourCPU && !w.beside {
			continue
		}
		if x := t.observed(w, name); !math.IsNaN(x) {
			out = append(out, x)
		}
	}
	return out
}
