package report

import (
	"slices"

	"github.com/tarelab/tare/record"
)

// workload is everything about one workload, found by arm.
type workload struct {
	record.WorkloadResult

	ladder  []string // baseline first, bottom up
	beside  []string // arms that are no rung
	twins   []string
	metrics []string // primary first

	arm       map[string]record.ArmResult
	effect    map[key]record.Effect
	step      map[key]record.Effect
	remainder map[key]record.Effect
	kernel    []record.Kernel
	twoModes  []record.ArmModes // arms whose windows have two

	imported bool // another tool measured: reports, not windows
}

type key struct{ metric, arm string }

// arms are all arms in the order of display.
func (w workload) arms() []string { return slices.Concat(w.ladder, w.beside, w.twins) }

// primary is the effect that the verdict on an arm is about.
func (w workload) primary(arm string) (record.Effect, bool) {
	x, ok := w.effect[key{w.Primary, arm}]
	return x, ok
}

// unmeasured says that no window of the workload counts: its turn did not come,
// or ended at once.
func (w workload) unmeasured() bool {
	if w.Blocks > 0 {
		return false
	}
	for _, a := range w.arm {
		if a.Windows > 0 {
			return false
		}
	}
	for _, all := range []map[key]record.Effect{w.effect, w.step, w.remainder} {
		for _, x := range all {
			if x.Typical != nil || x.Total != nil || seen(x) {
				return false
			}
		}
	}
	return true
}

// top is the highest rung that has an effect; empty when there is none.
func (w workload) top() string {
	for _, arm := range slices.Backward(w.ladder) {
		if _, ok := w.primary(arm); ok && arm != w.Baseline {
			return arm
		}
	}
	return ""
}

// real says that an arm is the real container, above all hand-made rungs.
func (w workload) real(arm string) bool {
	_, ok := w.remainder[key{w.Primary, arm}]
	return ok
}

// workloads sorts the effects by workload, in the order of the effects' own
// list of workloads; what only occurs in an effect comes last.
func workloads(e *record.Effects) []workload {
	var ws []workload
	for _, name := range workloadNames(e) {
		w := workload{WorkloadResult: record.WorkloadResult{Name: name}}
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
	var names ordered
	for _, r := range e.Workloads {
		names.add(r.Name)
	}
	for _, x := range slices.Concat(e.Effects, e.Steps, e.Remainder, e.Twin) {
		names.add(x.Workload)
	}
	for _, a := range e.Arms {
		names.add(a.Workload)
	}
	return names
}

func (w *workload) collect(e *record.Effects) {
	w.arm = map[string]record.ArmResult{}
	for _, a := range e.Arms {
		if a.Workload == w.Name {
			w.arm[a.Arm] = a
		}
	}
	w.effect = w.index(e.Effects, e.Twin)
	w.step = w.index(e.Steps)
	w.remainder = w.index(e.Remainder)
	for _, k := range e.Kernel {
		if k.Workload == w.Name {
			w.kernel = append(w.kernel, k)
		}
	}
	for _, m := range e.Modes {
		if m.Workload == w.Name && m.Modes != nil {
			w.twoModes = append(w.twoModes, m)
		}
	}
	w.imported = e.Imported != nil
	w.fillIn(e)
	w.sortArms(e)
}

func (w *workload) index(lists ...[]record.Effect) map[key]record.Effect {
	m := map[key]record.Effect{}
	for _, x := range slices.Concat(lists...) {
		if x.Workload == w.Name {
			m[key{x.Metric, x.Arm}] = x
		}
	}
	return m
}

// fillIn finds the metrics, and the baseline where the workload does not name
// it.
func (w *workload) fillIn(e *record.Effects) {
	var metrics ordered
	if w.Primary != "" {
		metrics.add(w.Primary)
	}
	for _, x := range slices.Concat(e.Effects, e.Steps, e.Remainder, e.Twin) {
		if x.Workload != w.Name {
			continue
		}
		metrics.add(x.Metric)
		if w.Primary == "" && !x.Exploratory {
			w.Primary = x.Metric
		}
	}
	w.metrics = metrics
	for _, x := range slices.Concat(e.Effects, e.Twin) {
		if w.Baseline == "" && x.Workload == w.Name {
			w.Baseline = x.Baseline
		}
	}
}

// sortArms puts each rung above the one that it steps from. Steps that hang
// in the air keep their place in the list.
func (w *workload) sortArms(e *record.Effects) {
	var all, twins, ladder, beside ordered
	for _, a := range e.Arms {
		if a.Workload == w.Name {
			all.add(a.Arm)
		}
	}
	below := map[string]string{}
	for _, x := range slices.Concat(e.Effects, e.Steps, e.Remainder, e.Twin) {
		if x.Workload == w.Name {
			all.add(x.Arm)
		}
	}
	for _, x := range slices.Concat(e.Steps, e.Remainder) {
		if x.Workload == w.Name {
			below[x.Arm] = x.Baseline
		}
	}
	for _, x := range e.Twin {
		if x.Workload == w.Name {
			twins.add(x.Arm)
		}
	}
	if w.Baseline != "" {
		ladder.add(w.Baseline)
	}
	for range all {
		for _, arm := range all {
			if from, ok := below[arm]; ok && slices.Contains(ladder, from) {
				ladder.add(arm)
			}
		}
	}
	for _, arm := range all {
		_, rung := below[arm]
		switch {
		case slices.Contains(ladder, arm):
		case slices.Contains(twins, arm):
		case rung:
			ladder.add(arm)
		default:
			beside.add(arm)
		}
	}
	twins = slices.DeleteFunc(twins, func(arm string) bool { return slices.Contains(ladder, arm) })
	w.ladder, w.beside, w.twins = ladder, beside, twins
}

// ordered is a set of words that keeps the order in which they came.
type ordered []string

func (o *ordered) add(s string) {
	if !slices.Contains(*o, s) {
		*o = append(*o, s)
	}
}
