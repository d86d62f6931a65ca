package analysis

import (
	"fmt"
	"math"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/record"
)

// checks are the standing checks of a workload, in the primary metric.
func checks(t *table, pairs map[string]pair, margin float64) []record.Checks {
	out := []record.Checks{
		transparency(t.checks, margin),
		carryOver(t, margin),
		halves(t, margin),
		order(t, pairs),
	}
	if t.load.Params["mode"] == "open" {
		out = append(out, schedule(t))
	}
	return out
}

// transparency compares the rotated rate with the rate of a long unfrozen
// stretch: a failure means that freezing changes what is measured.
func transparency(seen []record.Check, margin float64) record.Checks {
	out := record.Checks{Kind: "transparency", OK: true}
	var d []float64
	for _, c := range seen {
		if x := stat.LogRatio(c.Rotated, c.Steady); c.Kind == "transparency" && !math.IsNaN(x) {
			d = append(d, x)
		}
	}
	e := stat.Mean(d)
	i := e.At(0.95)
	out.Ratio = shown(e, i)
	if out.Ratio == nil {
		out.Text = "not enough unfrozen stretches to compare with"
		return out
	}
	out.Known = true
	out.OK = !i.Beyond(math.Log1p(max(2*margin, 0.02)))
	out.Text = "rotated against never frozen"
	if !out.OK {
		out.Remedy = "longer windows (window: in the experiment) bring the rotated rate nearer to the steady one; both arms of a comparison are affected alike"
	}
	return out
}

// carryOver asks whether a window depends on the arm before it.
func carryOver(t *table, margin float64) record.Checks {
	out := record.Checks{Kind: "carry-over", OK: true}
	index := map[string]int{}
	for i, a := range t.arms {
		index[a] = i
	}
	var cells []stat.Cell
	last, lastGeneration := -1, -1
	for n, r := range t.rows {
		if r.generation != lastGeneration {
			last, lastGeneration = -1, r.generation
		}
		for _, a := range r.order {
			if y := math.Log(r.windows[a].Rate()); !math.IsInf(y, 0) && !math.IsNaN(y) {
				cells = append(cells, stat.Cell{Row: n, Column: index[a], Before: last, Y: y})
			}
			last = index[a]
		}
	}
	worst, least, arm := stat.Estimate{}, 1.0, ""
	terms := stat.CarryOver(cells, len(t.arms))
	for j, e := range terms {
		if j > 0 && e.Known() && e.PValue() < least {
			worst, least, arm = e, e.PValue(), t.arms[j]
		}
	}
	if arm == "" {
		out.Text = "not enough blocks to tell"
		return out
	}
	i := worst.Interval(stat.StudentQuantile(1-0.025/float64(len(terms)-1), worst.DF))
	out.Known, out.Subject, out.Ratio = true, arm, shown(worst, i)
	out.OK = !i.Beyond(math.Log1p(margin) / 2)
	out.Text = "largest effect on the next window, after " + arm
	if !out.OK {
		out.Remedy = "a longer discard (discard: in the experiment) keeps an arm's aftermath out of the next window"
	}
	return out
}

// halves compares the first half of the windows with the second.
func halves(t *table, margin float64) record.Checks {
	out := record.Checks{Kind: "halves", OK: true}
	var d []float64
	for _, r := range t.rows {
		sum, n := 0.0, 0.0
		for _, w := range r.windows {
			second := float64(w.Ops-w.First) / (w.Seconds - w.FirstSeconds)
			if x := stat.LogRatio(float64(w.First)/w.FirstSeconds, second); !math.IsNaN(x) {
				sum, n = sum+x, n+1
			}
		}
		if n > 0 {
			d = append(d, sum/n)
		}
	}
	e := stat.Trimmed(d, trim)
	i := e.At(0.95)
	if out.Ratio = shown(e, i); out.Ratio == nil {
		out.Text = "not enough blocks to tell"
		return out
	}
	out.Known = true
	out.OK = !i.Beyond(math.Log1p(margin))
	out.Text = "first half of the windows against the second"
	if !out.OK {
		out.Remedy = "the rate still moves inside windows: a longer discard or window takes the transient out"
	}
	return out
}

// order looks for what randomised order should have removed.
func order(t *table, pairs map[string]pair) record.Checks {
	out := record.Checks{Kind: "order", OK: true}
	worst := stat.Test{P: math.NaN()}
	n := 0
	for _, a := range t.arms {
		if d := pairs[a].d; len(d) >= 8 {
			n++
			if l := stat.Lag1(d); !(l.P >= worst.P) && !math.IsNaN(l.P) {
				worst, out.Subject = l, a
			}
		}
	}
	if math.IsNaN(worst.P) {
		out.Text = "not enough blocks to tell"
		return out
	}
	out.Known, out.OK = true, worst.P*float64(n) > 0.01
	out.Text = fmt.Sprintf("largest lag-1 autocorrelation of the block differences: %+.2f (%s)", worst.Stat, out.Subject)
	if !out.OK {
		out.Remedy = "the arms drift apart over time: run longer, with more generations"
	}
	return out
}

// schedule asks whether an open-loop load kept its intended times.
func schedule(t *table) record.Checks {
	out := record.Checks{Kind: "schedule", OK: true}
	worst := 0.0
	for _, a := range t.arms {
		late, ops := 0.0, 0.0
		for _, w := range t.windowsOf(a) {
			late, ops = late+float64(w.Late), ops+float64(w.Ops)
		}
		if share := late / ops; share >= worst && ops > 0 {
			worst, out.Subject, out.Known = share, a, true
		}
	}
	out.OK = worst <= 0.05
	out.Text = fmt.Sprintf("at most %.1f %% of the operations began over 1 ms late (%s)", 100*worst, out.Subject)
	if !out.OK {
		out.Remedy = "the arm or the generator cannot sustain this rate: lower it"
	}
	return out
}

// warnings are caveats that follow from the data. Checks that failed are not
// among them: they say so themselves.
func warnings(t *table, out *record.Effects) []record.Warning {
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
		add("single launch: what a launch changes by chance (memory layout, placement) is not covered by the intervals",
			"a larger --budget leaves room for more generations")
	}
	for _, e := range out.Twin {
		if e.Workload == t.load.Name && e.Metric == t.load.Primary && e.Own != nil && (e.Own.Low > 1 || e.Own.High < 1) {
			add("the twin differs from its baseline: one in twenty runs shows this by chance", "repeat the run; if it stays, look for what differs by order of launch")
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
