package analysis

import (
	"math"
	"slices"
	"strconv"

	"github.com/tarelab/tare/internal/analysis/observe"
	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// power is the probability with which a check finds the deviation that it states as
// detectable.
const power = 0.8

// allChecks returns the checks of a workload, except that of CPU time. primary are the fits of
// the primary metric; nil: it has none, and the order is not checked.
func (t *table) allChecks(primary *fits, margin float64) []record.Checks {
	out := []record.Checks{t.transparency(), t.halves(margin)}
	if primary != nil {
		out = append(out, t.order(primary))
	}
	if scheduled(t.load) {
		out = append(out, t.schedule())
	}
	return append(out, t.settleTime()...)
}

// decideCheck fills in the outcome of a check. The check fails if the whole interval is beyond the
// limit. Otherwise it passes if the half-width is at most the limit, and is undecided if the
// interval is wider. limit is a log ratio.
func decideCheck(c *record.Checks, e stat.Estimate, i stat.Interval, limit float64) {
	c.OK = !i.Beyond(limit)
	c.Ratio = shown(e, i)
	c.Known = c.Ratio != nil && (!c.OK || i.Half() <= limit)
	if c.Ratio != nil {
		c.Detectable = math.Expm1(limit + stat.MDE(i.Half(), power))
	}
}

// steadyLimit is the largest accepted difference, as a ratio, between the rotated rate (the arms
// take turns, the others are frozen) and the steady rate (a long stretch without freezing). It is
// wide because a loss by freezing that all arms share cancels in their ratios. If an arm's loss is
// a tenth larger than the baseline's, its ratio is wrong by 1 %; the check of the halves finds that.
const steadyLimit = 0.1

// transparency compares the rotated rate with the steady rate. A failure means that freezing
// changes the speed of the load.
func (t *table) transparency() record.Checks {
	out := record.Checks{Kind: "transparency", OK: true, Text: fewToCompare}
	var d []float64
	for _, c := range t.checks {
		if x := stat.LogRatio(c.Rotated, c.Steady); c.Kind == "transparency" && !math.IsNaN(x) {
			d = append(d, x)
		}
	}
	e := stat.Mean(d)
	decideCheck(&out, e, e.At(0.95), math.Log1p(steadyLimit))
	if out.Ratio != nil {
		out.Text = rotatedText
	}
	if !out.OK {
		out.Remedy = rotatedRemedy
	}
	return out
}

// halves compares the rates of the two halves of each window. A transient after the thaw that all
// arms share cancels in the ratios of arms; the transient of a single arm does not. So it judges
// the difference between an arm's transient and that of the baseline and its twin.
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
	// The arm was chosen for its p-value, so the level is corrected (Bonferroni).
	i := worst.Interval(stat.StudentQuantile(1-0.025/float64(n), worst.DF))
	decideCheck(&out, worst, i, math.Log1p(2*margin)) // a transient moves the mean of a window by half of its size
	out.Text = halvesDiffer(out.Subject)
	if !out.OK {
		out.Remedy = halvesRemedy
	}
	return out
}

// ownTransient is, by row, the log ratio of the rates in the first and second half of the arm's
// window, minus the mean of the same ratio in the controls.
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

// harmless is the autocorrelation r that widens an interval by a tenth: sqrt((1+r)/(1-r)).
const harmless = 0.1

// order looks for windows of an arm that resemble those of the block before: the lag-1
// autocorrelation of each arm's log ratio over the baseline, within launches. Random order
// rules it out unless an arm stays fast or slow for longer than a block. Then the blocks of a
// launch are not independent, and the error rests on the launches: with fewer than
// metric.LeastLaunches the check fails. It uses ranks, because a burst over two windows does not
// move the robust estimate.
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
	detectable := 3 / math.Sqrt(float64(blocks)) // three standard errors of an autocorrelation
	found := worst.P*float64(n) <= 0.01 && worst.Stat >= harmless
	out.OK = !found || t.launches() >= metric.LeastLaunches
	out.Known = found || detectable <= 3*harmless
	out.Text = notAlike(worst.Stat, out.Subject, detectable)
	if found {
		out.Text = windowsAlike(worst.Stat, out.Subject, t.launches())
	}
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

// scheduled reports whether the load is open-loop: it begins operations by a schedule and counts
// late ones. That is a load with mode=open, and sysbench with a rate. fio's rate is only a limit.
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
	if batch, err := strconv.Atoi(t.load.Params["batch"]); err == nil && batch > 1 {
		out.Text = inBatches
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
	// muchStolen is the smallest share of stolen CPU time at which a stretch of windows is
	// used: with less, the sum cannot show whether the kernel counts stolen time twice.
	muchStolen = 0.05
	// stretch is the length in seconds of the windows that are added up before they are
	// compared. The kernel counts stolen time in ticks of 10 ms: in a single window of 20 ms,
	// one tick could make used and stolen time exceed the time of the CPUs.
	stretch = 2
	// overCapacity is the largest accepted ratio of used plus stolen time to the time of all
	// CPUs. It may exceed 1 because the counters are not read at the same instant.
	overCapacity = 1.1
	// saturated is the share of all CPUs from which they count as fully used.
	saturated = 0.9
)

// cpuTimeCheck checks whether the kernel's CPU time excludes stolen time: then used and
// stolen time add up to at most the time of all CPUs. Kind is empty where CPU time per
// operation is not judged.
func (t *table) cpuTimeCheck() record.Checks {
	out := record.Checks{OK: true}
	for _, name := range t.judged() {
		if name == metric.CPUPerOp.Name {
			out.Kind = "cpu time"
		}
	}
	used, capacity := 0.0, 0.0
	var part struct{ used, stolen, capacity float64 } // of the current stretch
	for w := range t.all() {
		steal := t.value(w, observe.Stolen)
		x := t.value(w, cpuMetric) + steal
		if others := t.value(w, observe.Foreign); others > 0 {
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

// warnings returns the warnings that follow from the data. Failed checks are not among
// them, as they have texts of their own.
func warnings(t *table, primary *fits, out *record.Effects) []record.Warning {
	var ws []record.Warning
	add := func(c caution) { ws = append(ws, c.of(t.load.Name, "")) }
	if t.load.Note != "" {
		add(caution{text: record.InProse(t.load.Note)})
	}
	if len(t.rows) == 0 {
		if out.Ended != record.EndedError {
			add(noBlock())
		}
		return ws
	}
	if t.single {
		add(singleLaunch())
	}
	ws = append(ws, t.oddLaunches(primary)...)
	for _, e := range out.Twin {
		if e.Workload == t.load.Name && e.Metric == t.load.Primary && e.Verdict.Differs() {
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

// Doubts returns the warnings about a workload that weaken its answer: a single launch, and failed
// checks.
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
