// Package arrange sorts effects by workload and puts the arms of a workload in
// the order of display: the ladder bottom up, the arms beside it, the twins. It
// reads no file and prints nothing.
package arrange

import (
	"iter"
	"maps"
	"math"
	"slices"

	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// Workload holds all results of one workload, by arm and metric.
type Workload struct {
	record.WorkloadResult

	Ladder  []string // baseline first, bottom up
	Beside  []string // arms beside the ladder
	Twins   []string
	Metrics []string // primary first

	Arm       map[string]record.ArmResult
	Effect    map[Key]record.Effect
	Step      map[Key]record.Effect
	Remainder map[Key]record.Effect
	Kernel    []record.Kernel
	TwoModes  []record.ArmModes // arms whose windows are at two levels in turn

	Imported bool // another tool measured: reports, not windows
}

// Key is the key of an effect within a workload.
type Key struct{ Metric, Arm string }

// Arms are all arms in the order of display.
func (w Workload) Arms() []string { return slices.Concat(w.Ladder, w.Beside, w.Twins) }

// PrimaryOf is the effect of an arm on the primary metric, which the verdict is about.
func (w Workload) PrimaryOf(arm string) (record.Effect, bool) {
	x, ok := w.Effect[Key{w.Primary, arm}]
	return x, ok
}

// Unmeasured reports whether the workload has neither a window that counts nor an effect: the run
// ended before the workload's turn, or soon after.
func (w Workload) Unmeasured() bool {
	if w.Blocks > 0 {
		return false
	}
	for _, a := range w.Arm {
		if a.Windows > 0 || w.Imported && len(a.Values) > 0 {
			return false
		}
	}
	for _, all := range []map[Key]record.Effect{w.Effect, w.Step, w.Remainder} {
		for _, x := range all {
			if x.Typical != nil || x.Total != nil || Seen(x) {
				return false
			}
		}
	}
	return true
}

// Alone reports whether an imported workload has a single arm, and so no effect.
func (w Workload) Alone() bool {
	return w.Imported && len(w.Arm) == 1 && len(w.Effect) == 0
}

// Noise is the noise floor of a metric, as a logarithm: the far end of the twin's interval. 0: unknown.
func (w Workload) Noise(metric string) float64 {
	noise := 0.0
	for _, arm := range w.Twins {
		r := w.Effect[Key{metric, arm}].Typical
		if r != nil && r.Known() {
			noise = max(noise, r.Far())
		}
	}
	return noise
}

// Moved reports whether an effect is a cost or a gain of known size.
func Moved(x record.Effect) bool {
	return x.Verdict.Differs() && x.Typical != nil
}

// FewLaunches reports whether an effect is undecided because an arm has too few launches for a verdict.
func (w Workload) FewLaunches(x record.Effect) bool {
	return !w.Imported && x.Verdict == record.Undecided && x.Typical != nil && x.Generations < metric.LeastLaunches
}

// InNoise reports whether a cost or gain is no larger than the noise floor. Its verdict holds all
// the same: the noise floor is that of the twin alone, and the effect is relative to the mean of
// baseline and twin, which varies less.
func (w Workload) InNoise(x record.Effect) bool {
	return Moved(x) && !slices.Contains(w.Twins, x.Arm) && math.Abs(math.Log(x.Typical.Ratio)) <= w.Noise(x.Metric)
}

// Subject is the arm that the answer is about: the question if it has an effect, else the top rung;
// empty if there is neither.
func (w Workload) Subject() string {
	if _, ok := w.PrimaryOf(w.Question); ok {
		return w.Question
	}
	return w.Top()
}

// Top is the highest rung that has an effect; empty without one.
func (w Workload) Top() string {
	for _, arm := range slices.Backward(w.Ladder) {
		if _, ok := w.PrimaryOf(arm); ok && arm != w.Baseline {
			return arm
		}
	}
	return ""
}

// Real reports whether an arm is the real container, above all rungs that tare makes.
func (w Workload) Real(arm string) bool {
	_, ok := w.Remainder[Key{w.Primary, arm}]
	return ok
}

// Workloads sorts the effects by workload, in the order of e.Workloads. Workloads that are not in
// e.Workloads come last.
func Workloads(e *record.Effects) []Workload {
	var ws []Workload
	for _, name := range workloadNames(e) {
		w := Workload{WorkloadResult: record.WorkloadResult{Name: name}}
		for _, r := range e.Workloads {
			if r.Name == name {
				w.WorkloadResult = r
			}
		}
		w.collect(e)
		ws = append(ws, w)
	}
	return ws
}

func workloadNames(e *record.Effects) []string {
	var names Ordered
	for _, r := range e.Workloads {
		names.Add(r.Name)
	}
	for _, x := range slices.Concat(e.Effects, e.Steps, e.Remainder, e.Twin) {
		names.Add(x.Workload)
	}
	for _, a := range e.Arms {
		names.Add(a.Workload)
	}
	return names
}

func (w *Workload) collect(e *record.Effects) {
	w.Arm = map[string]record.ArmResult{}
	for _, a := range e.Arms {
		if a.Workload == w.Name {
			w.Arm[a.Arm] = a
		}
	}
	w.Effect = w.index(e.Effects, e.Twin)
	w.Step = w.index(e.Steps)
	w.Remainder = w.index(e.Remainder)
	for _, k := range e.Kernel {
		if k.Workload == w.Name {
			w.Kernel = append(w.Kernel, k)
		}
	}
	for _, m := range e.Modes {
		if m.Workload == w.Name && m.Modes != nil {
			w.TwoModes = append(w.TwoModes, m)
		}
	}
	w.Imported = e.Imported != nil
	w.fillIn(e)
	w.sortArms(e)
}

func (w *Workload) index(lists ...[]record.Effect) map[Key]record.Effect {
	m := map[Key]record.Effect{}
	for _, x := range slices.Concat(lists...) {
		if x.Workload == w.Name {
			m[Key{x.Metric, x.Arm}] = x
		}
	}
	return m
}

// fillIn collects the metrics, and takes the primary metric and the baseline from the effects if the
// workload does not name them.
func (w *Workload) fillIn(e *record.Effects) {
	var metrics Ordered
	if w.Primary != "" {
		metrics.Add(w.Primary)
	}
	for _, x := range slices.Concat(e.Effects, e.Steps, e.Remainder, e.Twin) {
		if x.Workload != w.Name {
			continue
		}
		metrics.Add(x.Metric)
		if w.Primary == "" && !x.Exploratory {
			w.Primary = x.Metric
		}
	}
	if w.Alone() { // there is no effect to name the metrics
		for _, m := range slices.Sorted(maps.Keys(w.Arm[w.Baseline].Values)) {
			metrics.Add(m)
		}
	}
	w.Metrics = metrics
	for _, x := range slices.Concat(e.Effects, e.Twin) {
		if w.Baseline == "" && x.Workload == w.Name {
			w.Baseline = x.Baseline
		}
	}
}

// sortArms sets Ladder, Beside and Twins. Each rung is put above its lower rung. Rungs whose lower
// rung is missing come last, at the top of the ladder.
func (w *Workload) sortArms(e *record.Effects) {
	var all, twins, ladder, beside Ordered
	for _, a := range e.Arms {
		if a.Workload == w.Name {
			all.Add(a.Arm)
		}
	}
	below := map[string]string{}
	for _, x := range slices.Concat(e.Effects, e.Steps, e.Remainder, e.Twin) {
		if x.Workload == w.Name {
			all.Add(x.Arm)
		}
	}
	for _, x := range slices.Concat(e.Steps, e.Remainder) {
		if x.Workload == w.Name {
			below[x.Arm] = x.Baseline
		}
	}
	for _, x := range e.Twin {
		if x.Workload == w.Name {
			twins.Add(x.Arm)
		}
	}
	if w.Baseline != "" {
		ladder.Add(w.Baseline)
	}
	for range all { // a pass may add only the rungs above those of the pass before
		for _, arm := range all {
			if from, ok := below[arm]; ok && slices.Contains(ladder, from) {
				ladder.Add(arm)
			}
		}
	}
	for _, arm := range all {
		_, rung := below[arm]
		switch {
		case slices.Contains(ladder, arm):
		case slices.Contains(twins, arm):
		case rung:
			ladder.Add(arm)
		default:
			beside.Add(arm)
		}
	}
	twins = slices.DeleteFunc(twins, func(arm string) bool { return slices.Contains(ladder, arm) })
	w.Ladder, w.Beside, w.Twins = ladder, beside, twins
}

// Ordered is a set of words in the order in which they were added.
type Ordered []string

func (o *Ordered) Add(s string) {
	if !slices.Contains(*o, s) {
		*o = append(*o, s)
	}
}

// Grouped are sets of words under keys, both in the order in which they were added.
type Grouped[K comparable] struct {
	Keys  []K
	words map[K]*Ordered
}

// Add puts words under a key, and adds the key also without words.
func (g *Grouped[K]) Add(key K, words ...string) {
	if g.words == nil {
		g.words = map[K]*Ordered{}
	}
	if g.words[key] == nil {
		g.Keys = append(g.Keys, key)
		g.words[key] = &Ordered{}
	}
	for _, w := range words {
		g.words[key].Add(w)
	}
}

// Of are the words under a key.
func (g *Grouped[K]) Of(key K) []string {
	if g.words[key] == nil {
		return nil
	}
	return *g.words[key]
}

// All are the keys with their words.
func (g *Grouped[K]) All() iter.Seq2[K, []string] {
	return func(yield func(K, []string) bool) {
		for _, key := range g.Keys {
			if !yield(key, g.Of(key)) {
				return
			}
		}
	}
}

// Seen reports whether an effect is an observed difference of imported figures, without an interval.
func Seen(x record.Effect) bool { return x.Typical == nil && x.Observed > 0 }

// MoreIsBetter reports whether a larger value of a metric is better; true for an unknown metric.
func (w Workload) MoreIsBetter(name string) bool { return metric.Better(w.Values, name) >= 0 }
