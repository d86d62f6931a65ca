package analysis

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// power is with which a check says what it would have seen.
const power = 0.8

// standing are the standing checks of a workload, in the primary metric.
func (t *table) standing(primary *fits, margin float64) []record.Checks {
	out := []record.Checks{t.transparency(), t.carryOver(margin), t.halves(margin)}
	if primary != nil {
		out = append(out, t.order(primary))
	}
	if open(t.load) {
		out = append(out, t.schedule())
	}
	return append(out, t.settleTime()...)
}

// weigh fills in what an interval says about a limit. The check fails where the
// whole interval is beyond the limit, holds where the interval is narrower than the
// limit is wide, and cannot tell otherwise: an interval that would hold anything
// says nothing.
func weigh(c *record.Checks, e stat.Estimate, i stat.Interval, limit float64) {
	c.OK = !i.Beyond(limit)
	c.Ratio = shown(e, i)
	c.Known = c.Ratio != nil && (!c.OK || i.Half() <= limit)
	if c.Ratio != nil {
		c.Detectable = math.Expm1(limit + stat.MDE(i.Half(), power))
	}
}

// steadyLimit is how far the rotated rate may be off the steady one. What a freeze
// costs all arms alike cancels in their ratios; an arm would have to lose a tenth
// more or less by it than the baseline to be off by 1 %, and the check of the halves
// sees that.
const steadyLimit = 0.1

// transparency compares the rotated rate with the rate of a long unfrozen
// stretch: a failure means that freezing changes what is measured.
func (t *table) transparency() record.Checks {
	out := record.Checks{Kind: "transparency", OK: true, Text: "not enough unfrozen stretches to compare with"}
	var d []float64
	for _, c := range t.checks {
		if x := stat.LogRatio(c.Rotated, c.Steady); c.Kind == "transparency" && !math.IsNaN(x) {
			d = append(d, x)
		}
	}
	e := stat.Mean(d)
	weigh(&out, e, e.At(0.95), math.Log1p(steadyLimit))
	if out.Ratio != nil {
		out.Text = "rotated against never frozen"
	}
	if !out.OK {
		out.Remedy = "longer windows (window: in the experiment) bring the rotated rate nearer to the steady one; both arms of a comparison are affected alike"
	}
	return out
}

// carryOver asks whether a window depends on the arm before it, in the order in
// which windows were taken, whether they count or not.
func (t *table) carryOver(margin float64) record.Checks {
	out := record.Checks{Kind: "carry-over", OK: true, Text: "not enough blocks to tell"}
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
	out.Text = "largest effect on the next window, after " + out.Subject
	if !out.OK {
		out.Remedy = "a longer discard (discard: in the experiment) keeps an arm's aftermath out of the next window"
	}
	return out
}

// halves compares the first half of the windows with the second, in every arm
// against the baseline and its twin: what all arms have in common after a thaw
// cancels in their ratios, and what is an arm's own does not.
func (t *table) halves(margin float64) record.Checks {
	out := record.Checks{Kind: "halves", OK: true, Text: "not enough blocks to tell"}
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
	weigh(&out, worst, i, math.Log1p(2*margin)) // which moves the mean of a window by half of it
	out.Text = "first half of the windows against the second, beyond the baseline's, in " + out.Subject
	if !out.OK {
		out.Remedy = "the rate of this arm still moves inside windows: a longer discard or window takes the transient out"
	}
	return out
}

// ownTransient is, for every row, how far the first half of an arm's window is off
// the second, in logarithms, beyond what it is in the controls.
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

// transientOf is the log ratio of the rates of the halves; half an operation more in
// each keeps one without any finite.
func transientOf(w *window) float64 {
	return stat.LogRatio((float64(w.first)+0.5)/w.firstSeconds, (float64(w.ops-w.first)+0.5)/(w.seconds-w.firstSeconds))
}

// harmless is an autocorrelation that widens an interval by a tenth if it is known
// (sqrt((1+r)/(1-r))).
const harmless = 0.1

// order looks for what randomised order should have removed, within launches: a
// launch that differs from the next is no drift. Ranks, for a burst that hits two
// windows is no drift either, and the estimate does not follow it.
func (t *table) order(f *fits) record.Checks {
	out := record.Checks{Kind: "order", OK: true, Text: "not enough blocks to tell"}
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
	out.Text = fmt.Sprintf("largest lag-1 autocorrelation of the block differences within launches, by rank: %+.2f (%s); %.2f would have shown", worst.Stat, out.Subject, seen)
	if !out.OK {
		out.Remedy = "the arms drift apart over time: run longer, with more generations"
	}
	return out
}

// byLaunch are the log ratios of an arm over the baseline, by launch in order.
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

// open says that the load begins operations at times of its own and counts those
// that begin late: one whose mode is open, and sysbench at a rate. A rate of fio is
// a limit and no schedule.
func open(load record.Workload) bool {
	rate, err := strconv.ParseFloat(load.Params["rate"], 64)
	return load.Params["mode"] == "open" || load.Kind == "sysbench" && err == nil && rate > 0
}

// schedule asks whether an open-loop load kept its intended times.
func (t *table) schedule() record.Checks {
	out := record.Checks{Kind: "schedule", OK: true, Text: "no operation was measured"}
	if t.load.Params["hook"] == "off" {
		out.Text, out.Remedy = "without the hook nobody counts which operations began late", "hook: on"
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
	out.Text = fmt.Sprintf("at most %.1f %% of the operations began over 1 ms late (%s)", 100*worst, out.Subject)
	if !out.OK {
		out.Remedy = "the arm or the generator cannot sustain this rate: lower it"
	}
	return out
}

const (
	// muchStolen is the share of the host's CPU time from which a stretch of windows
	// tells whether the kernel counts it as the arm's, too.
	muchStolen = 0.05
	// stretch is how many seconds of windows are looked at together. The kernel counts
	// what is stolen in ticks of 10 ms: by itself a window of 20 ms with one in it has
	// more than its CPUs.
	stretch = 2
	// overCapacity is how much more than all CPUs the sum of used and stolen time
	// may be: counters are read one after the other.
	overCapacity = 1.1
	// saturated is the share of all CPUs from which they are taken to be full.
	saturated = 0.9
)

// netOfSteal asks whether the kernel's CPU time leaves out what the hypervisor
// took: then what was used and what was stolen is together at most what the CPUs
// have. Kind is empty where efficiency is not judged anyway.
func (t *table) netOfSteal() record.Checks {
	out := record.Checks{OK: true}
	for _, name := range t.judged() {
		if name == metric.Efficiency.Name {
			out.Kind = "cpu time"
		}
	}
	used, capacity := 0.0, 0.0
	var its struct{ used, stolen, capacity float64 } // of the stretch
	for w := range t.all() {
		steal := t.value(w, stolen)
		x := t.value(w, CPUMetric) + steal
		if others := t.value(w, foreign); others > 0 {
			x += others
		}
		if math.IsNaN(x) {
			continue
		}
		its.used, its.stolen, its.capacity = its.used+x, its.stolen+steal, its.capacity+float64(t.cpus)*w.seconds
		if its.capacity < stretch*float64(t.cpus) {
			continue
		}
		if its.stolen >= muchStolen*its.capacity {
			used, capacity = used+its.used, capacity+its.capacity
		}
		its.used, its.stolen, its.capacity = 0, 0, 0
	}
	share := used / capacity
	switch {
	case out.Kind == "":
	case capacity == 0:
		out.Text = "nothing worth speaking of was stolen: whether CPU time is net of it does not matter"
		out.Known = t.cpus > 0
	case share > overCapacity:
		out.OK, out.Known = false, true
		out.Text = fmt.Sprintf("CPU time and stolen time together are %.0f %% of what the CPUs have: the kernel counts what is stolen as used", 100*share)
		out.Remedy = "operations per CPU second are shown and not judged; the throughput is not affected"
	case share >= saturated:
		out.Known = true
		out.Text = fmt.Sprintf("CPU time and stolen time together are %.0f %% of what the CPUs have: CPU time is net of what is stolen", 100*share)
	default:
		out.Text = fmt.Sprintf("CPU time and stolen time together are %.0f %% of what the CPUs have: too little to tell whether one contains the other", 100*share)
	}
	return out
}

// unlike is the standard deviation of a launch's effect from which on intervals err
// more often than they say: in 6 to 8 % of the cases, in up to 15 % where it is 10 % and
// there are two or three launches (docs/method.md, the cells that fail).
const unlike = 0.015

// warnings are caveats that follow from the data. Checks that failed are not
// among them: they say so themselves.
func warnings(t *table, primary *fits, out *record.Effects) []record.Warning {
	var ws []record.Warning
	add := func(text, remedy string) {
		ws = append(ws, record.Warning{Workload: t.load.Name, Text: text, Remedy: remedy})
	}
	if t.load.Note != "" {
		add(t.load.Note, "")
	}
	if len(t.rows) == 0 {
		add("no block counts", "run longer: --budget")
		return ws
	}
	if t.single {
		add("single launch: what a launch changes by chance (memory layout, placement) was not seen; the intervals allow for what is usual",
			"a larger --budget leaves room for more generations")
	}
	if primary != nil && primary.typical.Known && !t.single && primary.typical.LaunchSD >= unlike {
		add(fmt.Sprintf("launches of an arm differ by %.1f %% (standard deviation): intervals err somewhat more often than they say, 6 to 8 times in 100 after five launches or more", 100*primary.typical.LaunchSD),
			"more launches: a larger --budget, or --set generations=N")
	}
	for _, e := range out.Twin {
		if e.Workload == t.load.Name && e.Metric == t.load.Primary && e.Own != nil && (e.Own.Low > 1 || e.Own.High < 1) {
			add("the twin differs from its baseline: one in twenty runs shows this by chance", "repeat the run; if it stays, look for what differs by order of launch")
		}
	}
	for _, a := range out.Arms {
		if a.Workload == t.load.Name && a.Stalled > 0 {
			ws = append(ws, record.Warning{Workload: t.load.Name, Arm: a.Arm,
				Text:   fmt.Sprintf("in %d of %d windows no operation finished: they count, in the typical effect as half an operation", a.Stalled, a.Windows),
				Remedy: "longer windows (window: in the experiment) hold more operations; or find out what stalls"})
		}
	}
	if t.pilot != nil && t.pilot.Pause == "load" {
		add("arms were paused by their load, not frozen: background work of a paused arm goes on", "run as root, or with a delegated control group")
	}
	if t.pilot != nil && t.pilot.Pause == "stream" {
		add("pods were paused through their load, not frozen: a server runs on, idle, with its background work", "--node-helper, or run tare on the node, as root")
	}
	return ws
}

// Doubts is what makes an answer on a workload rest on less than it should: the
// standing checks that did not hold, and a single launch.
func Doubts(w record.WorkloadResult) []record.Warning {
	var out []record.Warning
	if w.Generations == 1 {
		out = append(out, record.Warning{
			Workload: w.Name, Text: "one launch only: what a launch changes by chance is not in the intervals",
			Remedy: "a longer run (--budget) launches anew",
		})
	}
	for _, c := range w.Checks {
		if c.Known && !c.OK {
			out = append(out, record.Warning{
				Workload: w.Name, Arm: c.Subject, Text: "the check “" + c.Kind + "” failed: " + c.Text, Remedy: c.Remedy,
			})
		}
	}
	return out
}
