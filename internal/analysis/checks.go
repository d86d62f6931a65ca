package analysis

import (
	"math"
	"slices"
	"strconv"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// power is the probability with which a check finds the deviation that it states as
// detectable.
const power = 0.8

// standing returns the checks of a workload that every analysis makes, in the primary
// metric.
func (t *table) standing(primary *fits, margin float64) []record.Checks {
	out := []record.Checks{t.transparency(), t.carryOver(margin), t.halves(margin)}
	if primary != nil {
		out = append(out, t.order(primary))
	}
	if scheduled(t.load) {
		out = append(out, t.schedule())
	}
	return append(out, t.settleTime()...)
}

// weigh fills in the outcome of a check from an interval and a limit. The check fails where
// the whole interval is beyond the limit, holds where the half-width is at most the limit,
// and is undecided otherwise: a wide interval contains everything.
func weigh(c *record.Checks, e stat.Estimate, i stat.Interval, limit float64) {
	c.OK = !i.Beyond(limit)
	c.Ratio = shown(e, i)
	c.Known = c.Ratio != nil && (!c.OK || i.Half() <= limit)
	if c.Ratio != nil {
		c.Detectable = math.Expm1(limit + stat.MDE(i.Half(), power))
	}
}

// steadyLimit is how far the rotated rate may be off the steady one. A cost of freezing that
// all arms share cancels in their ratios: only an arm that loses a tenth more or less by it
// than the baseline is off by 1 %, and the check of the halves finds that.
const steadyLimit = 0.1

// transparency compares the rotated rate with the rate of a long stretch without freezing.
// A failure means that freezing changes what is measured.
func (t *table) transparency() record.Checks {
	out := record.Checks{Kind: "transparency", OK: true, Text: fewToCompare}
	var d []float64
	for _, c := range t.checks {
		if x := stat.LogRatio(c.Rotated, c.Steady); c.Kind == "transparency" && !math.IsNaN(x) {
			d = append(d, x)
		}
	}
	e := stat.Mean(d)
	weigh(&out, e, e.At(0.95), math.Log1p(steadyLimit))
	if out.Ratio != nil {
		out.Text = rotatedText
	}
	if !out.OK {
		out.Remedy = rotatedRemedy
	}
	return out
}

// carryOver checks whether a window depends on the arm before it. The order includes the
// windows that do not count.
func (t *table) carryOver(margin float64) record.Checks {
	out := record.Checks{Kind: "carry-over", OK: true, Text: fewToTell}
	m, ok := t.measureOf(metric.Throughput.Name)
	if !ok {
		return out
	}
	var cells []stat.Cell
	last, launch := -1, -1
	for n, r := range t.rows {
		if r.launch != launch {
			last, launch = -1, r.launch
		}
		for _, a := range r.order {
			if w := r.windows[a]; w != nil {
				if y := m.log(w); !math.IsNaN(y) {
					cells = append(cells, stat.Cell{Row: n, Column: a, Before: last, Y: y})
				}
			}
			last = a
		}
	}
	worst, least := stat.Estimate{}, math.Inf(1)
	terms := stat.CarryOver(cells, len(t.arms))
	for j, e := range terms {
		if j > 0 && e.Known() && e.PValue() < least {
			worst, least, out.Subject = e, e.PValue(), t.arms[j]
		}
	}
	if out.Subject == "" {
		return out
	}
	i := worst.Interval(stat.StudentQuantile(1-0.025/float64(len(terms)-1), worst.DF))
	weigh(&out, worst, i, math.Log1p(margin)/2)
	out.Text = carriedOver(out.Subject)
	if !out.OK {
		out.Remedy = carryOverRemedy
	}
	return out
}

// halves compares the first half of the windows with the second, in every arm against the
// baseline and its twin. A transient after the thaw that all arms share cancels in the
// ratios of arms; the transient of a single arm does not.
func (t *table) halves(margin float64) record.Checks {
	out := record.Checks{Kind: "halves", OK: true, Text: fewToTell}
	worst, least, n := stat.Estimate{}, math.Inf(1), 0
	for arm, name := range t.arms {
		if name == t.load.Baseline || t.arm(name).Twin {
			continue
		}
		e := stat.Trimmed(t.ownTransient(arm), trim)
		if !e.Known() {
			continue
		}
		if n++; e.PValue() < least {
			worst, least, out.Subject = e, e.PValue(), name
		}
	}
	if n == 0 {
		return out
	}
	i := worst.Interval(stat.StudentQuantile(1-0.025/float64(n), worst.DF))
	weigh(&out, worst, i, math.Log1p(2*margin)) // a transient moves the mean of a window by half of its size
	out.Text = halvesDiffer(out.Subject)
	if !out.OK {
		out.Remedy = halvesRemedy
	}
	return out
}

// ownTransient is the log ratio of the first half of an arm's window to the second, minus
// that of the controls, by row.
func (t *table) ownTransient(arm int) []float64 {
	var d []float64
	for _, r := range t.rows {
		var controls []float64
		for _, c := range t.control() {
			if w := r.windows[c]; w != nil && w.firstSeconds > 0 {
				controls = append(controls, transientOf(w))
			}
		}
		if w := r.windows[arm]; w != nil && w.firstSeconds > 0 && len(controls) > 0 {
			d = append(d, transientOf(w)-stat.Mean(controls).Mean)
		}
	}
	return d
}

// transientOf is the log ratio of the rates of the two halves. Half an operation is added
// to each, so that a half without operations stays finite.
func transientOf(w *window) float64 {
	return stat.LogRatio((float64(w.first)+0.5)/w.firstSeconds, (float64(w.ops-w.first)+0.5)/(w.seconds-w.firstSeconds))
}

// harmless is an autocorrelation that would widen an interval by a tenth:
// sqrt((1+r)/(1-r)).
const harmless = 0.1

// order looks for a drift between arms that the random order should have removed. It looks
// within launches, as a difference between launches is no drift, and at ranks, as a burst
// over two windows is no drift and does not move the robust estimate.
func (t *table) order(f *fits) record.Checks {
	out := record.Checks{Kind: "order", OK: true, Text: fewToTell}
	worst := stat.Test{P: math.NaN()}
	n, blocks := 0, 0
	for _, a := range t.arms {
		if a == t.load.Baseline {
			continue
		}
		series := t.byLaunch(f, t.index[a])
		l := stat.Lag1Within(stat.Ranks(series))
		if math.IsNaN(l.P) {
			continue
		}
		n++
		if !(l.P >= worst.P) {
			worst, out.Subject, blocks = l, a, len(slices.Concat(series...))
		}
	}
	if n == 0 {
		return out
	}
	seen := 3 / math.Sqrt(float64(blocks))
	out.OK = worst.P*float64(n) > 0.01 || math.Abs(worst.Stat) < harmless
	out.Known = !out.OK || seen <= 3*harmless
	out.Text = orderedBy(worst.Stat, out.Subject, seen)
	if !out.OK {
		out.Remedy = orderRemedy
	}
	return out
}

// byLaunch returns the log ratios of an arm over the baseline, by launch.
func (t *table) byLaunch(f *fits, arm int) [][]float64 {
	base := t.index[t.load.Baseline]
	var out [][]float64
	launch := -1
	for i, row := range f.y {
		if t.rows[i].launch != launch {
			launch = t.rows[i].launch
			out = append(out, nil)
		}
		if d := row[arm] - row[base]; !math.IsNaN(d) {
			out[len(out)-1] = append(out[len(out)-1], d)
		}
	}
	return out
}

// scheduled reports whether the load begins operations by a schedule and counts those that
// begin late: a load whose mode is open, and sysbench at a rate. A rate of fio is a limit.
func scheduled(load record.Workload) bool {
	rate, err := strconv.ParseFloat(load.Params["rate"], 64)
	return load.Params["mode"] == "open" || load.Kind == "sysbench" && err == nil && rate > 0
}

// schedule checks whether an open-loop load kept its schedule.
func (t *table) schedule() record.Checks {
	out := record.Checks{Kind: "schedule", OK: true, Text: noOperation}
	if t.load.Params["hook"] == "off" {
		out.Text, out.Remedy = hookOff, hookOn
		return out
	}
	worst := 0.0
	for _, a := range t.arms {
		late, ops := 0.0, 0.0
		for _, w := range t.windowsOf(a) {
			late, ops = late+float64(w.late), ops+float64(w.ops)
		}
		if share := late / ops; share >= worst && ops > 0 {
			worst, out.Subject, out.Known = share, a, true
		}
	}
	if !out.Known {
		return out
	}
	out.OK = worst <= 0.05
	out.Text = lateAtMost(worst, out.Subject)
	if !out.OK {
		out.Remedy = lateRemedy
	}
	return out
}

const (
	// muchStolen is the least share of stolen CPU time in a stretch of windows that shows
	// whether the kernel counts it as the arm's too.
	muchStolen = 0.05
	// stretch is the length in seconds of windows that are added up. The kernel counts
	// stolen time in ticks of 10 ms: a single window of 20 ms with one tick would have
	// more time than its CPUs.
	stretch = 2
	// overCapacity is the largest ratio of used and stolen time to the time of all CPUs
	// that is explained by counters being read one after the other.
	overCapacity = 1.1
	// saturated is the share of all CPUs from which they count as fully used.
	saturated = 0.9
)

// cpuTimeCheck checks whether the kernel's CPU time excludes stolen time: then used and
// stolen time add up to at most the time of all CPUs. Kind is empty where efficiency is not
// judged.
func (t *table) cpuTimeCheck() record.Checks {
	out := record.Checks{OK: true}
	for _, name := range t.judged() {
		if name == metric.Efficiency.Name {
			out.Kind = "cpu time"
		}
	}
	used, capacity := 0.0, 0.0
	var part struct{ used, stolen, capacity float64 } // of the current stretch
	for w := range t.all() {
		steal := t.value(w, stolen)
		x := t.value(w, CPUMetric) + steal
		if others := t.value(w, foreign); others > 0 {
			x += others
		}
		if math.IsNaN(x) {
			continue
		}
		part.used, part.stolen, part.capacity = part.used+x, part.stolen+steal, part.capacity+float64(t.cpus)*w.seconds
		if part.capacity < stretch*float64(t.cpus) {
			continue
		}
		if part.stolen >= muchStolen*part.capacity {
			used, capacity = used+part.used, capacity+part.capacity
		}
		part.used, part.stolen, part.capacity = 0, 0, 0
	}
	share := used / capacity
	switch {
	case out.Kind == "":
	case capacity == 0:
		out.Text = nothingStolen
		out.Known = t.cpus > 0
	case share > overCapacity:
		out.OK, out.Known = false, true
		out.Text = stealCounted(share)
		out.Remedy = stealRemedy
	case share >= saturated:
		out.Known = true
		out.Text = netOfSteal(share)
	default:
		out.Text = stealUntold(share)
	}
	return out
}

// unlike is the standard deviation of launches (a ratio) from which intervals miss the true
// value more often than in 5 %: in 6 to 8 % of the cases, in up to 15 % where it is 10 % and
// there are two or three launches (docs/method.md, the cells that fail).
const unlike = 0.015

// warnings returns the warnings that follow from the data. Failed checks are not among
// them, as they have texts of their own.
func warnings(t *table, primary *fits, out *record.Effects) []record.Warning {
	var ws []record.Warning
	add := func(c caution) { ws = append(ws, c.of(t.load.Name, "")) }
	if t.load.Note != "" {
		add(caution{text: t.load.Note})
	}
	if len(t.rows) == 0 {
		add(noBlock())
		return ws
	}
	if t.single {
		add(singleLaunch())
	}
	if primary != nil && primary.typical.Known && !t.single && primary.typical.LaunchSD >= unlike {
		add(launchesDiffer(primary.typical.LaunchSD))
	}
	for _, e := range out.Twin {
		if e.Workload == t.load.Name && e.Metric == t.load.Primary && e.Own != nil && (e.Own.Low > 1 || e.Own.High < 1) {
			add(twinDiffers())
		}
	}
	for _, a := range out.Arms {
		if a.Workload == t.load.Name && a.Stalled > 0 {
			ws = append(ws, stalledWindows(a.Stalled, a.Windows).of(t.load.Name, a.Arm))
		}
	}
	if t.pilot != nil && t.pilot.Pause == "load" {
		add(pausedByLoad())
	}
	if t.pilot != nil && t.pilot.Pause == "stream" {
		add(pausedByStream())
	}
	return ws
}

// Doubts returns warnings of what weakens an answer on a workload: a single launch and the
// checks that failed.
func Doubts(w record.WorkloadResult) []record.Warning {
	var out []record.Warning
	if w.Generations == 1 {
		out = append(out, oneLaunch().of(w.Name, ""))
	}
	for _, c := range w.Checks {
		if c.Known && !c.OK {
			out = append(out, caution{checkFailed(c.Kind, c.Text), c.Remedy}.of(w.Name, c.Subject))
		}
	}
	return out
}
