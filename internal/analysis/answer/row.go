package answer

import (
	"math"
	"slices"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/analysis/observe"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// row is one arm of a load against the baseline. other is the share of the CPUs that other work used.
func row(w arrange.Workload, arm string, other float64) record.AnswerRow {
	x, _ := w.PrimaryOf(arm)
	return record.AnswerRow{
		Workload: w.Name, Arm: arm, Level: level(w, w.Baseline), Effect: &x,
		P99: effect(w, metric.P99.Name, arm), CPU: effect(w, metric.CPUPerOp.Name, arm),
		Says: says(w, arm, other),
	}
}

// level is an arm's level of the primary metric, in its unit; nil where it is not known.
func level(w arrange.Workload, arm string) *float64 {
	if x, ok := w.Arm[arm].Values[w.Primary].Get(); ok && quantity.Finite(x) {
		return &x
	}
	return nil
}

// effect is an effect that has an interval; else nil.
func effect(w arrange.Workload, name, arm string) *record.Effect {
	if x, ok := w.Effect[arrange.Key{Metric: name, Arm: arm}]; ok && x.Typical != nil && name != w.Primary {
		return &x
	}
	return nil
}

// competing is the share of the CPUs that other processes have to use for the CPU time that an
// arm received to be the outcome of a competition, and not a price of the arm.
const competing = 0.1

// says is the answer of an arm by the primary metric, with what is shown of CPU time per operation beside it. other is
// the share of the CPUs that other work used; beside a neighbour of the run it is 0: competing for CPU time is the
// question there.
func says(w arrange.Workload, arm string, other float64) record.Says {
	x, ok := w.PrimaryOf(arm)
	if !ok {
		return record.Says{Word: record.SaysSkipped, Reason: record.Say("no_window_measured")}
	}
	s, work := Says(x), perOp(w, arm)
	if work != nil {
		s.CPU = moreOrLess(*work)
	}
	s.Causes = causes(w, x, work, x.Parts != nil && other > competing && !heldBack(w, x))
	return s
}

// Says is what a row says of one effect: its verdict, the largest loss (or difference) that is possible, and the time
// that would decide it.
func Says(x record.Effect) record.Says {
	s := record.Says{Word: words[x.Verdict], Reason: x.Unequal, Bound: x.AtMost}
	if quantity.Finite(x.Needed) {
		s.Seconds = x.Needed
	}
	if x.Verdict == record.Invalid || x.Verdict == record.Undecided && x.Bound == nil {
		s.Reason = x.Reason
	}
	return s
}

// words are the words of verdicts in a row.
var words = map[record.Verdict]record.AnswerWord{
	record.Undecided: record.SaysUndecided, record.Slower: record.SaysSlower, record.Faster: record.SaysFaster, record.Invalid: record.SaysInvalid,
	record.NoDifference: record.SaysNoDifference, record.NoLoss: record.SaysNoLoss, record.MoreCPU: record.SaysSlower, record.LessCPU: record.SaysFaster,
}

// perOp is the effect of an arm on CPU time per operation; nil if it has no verdict.
func perOp(w arrange.Workload, arm string) *record.Effect {
	x, ok := w.Effect[arrange.Key{Metric: metric.CPUPerOp.Name, Arm: arm}]
	if !ok || w.Primary != metric.Throughput.Name || x.Exploratory || x.Typical == nil {
		return nil
	}
	return &x
}

// moreOrLess is the verdict on CPU time per operation; empty: no difference is shown.
func moreOrLess(x record.Effect) record.CPUWord {
	switch x.Verdict {
	case record.MoreCPU:
		return record.SaysMoreCPU
	case record.LessCPU:
		return record.SaysLessCPU
	}
	return ""
}

// heldBack reports whether the arm's own limit kept more CPU time from it than other work used.
func heldBack(w arrange.Workload, x record.Effect) bool {
	foreign, known := foreignWork(w.Kernel, w.Name)
	return known && difference(w, x, observe.Throttled) > foreign
}

// otherWork is the share of the CPUs that other work used; 0: not known.
func otherWork(e *record.Effects, load string) float64 {
	used, known := foreignWork(e.Kernel, load)
	if !known || e.Host.CPUs <= 0 {
		return 0
	}
	return min(used/float64(e.Host.CPUs), 1) // a tick of the kernel may be longer than a window
}

// foreignWork is the CPU time, in seconds per second, that processes used in every arm of a load which are
// neither the arm's nor its neighbour's. What they use in one arm only is work of the kernel for that arm:
// the threads of a loop device, the packets of a bridge.
func foreignWork(kernel []record.Kernel, load string) (least float64, known bool) {
	least = math.Inf(1)
	for _, k := range kernel {
		if k.Workload != load || k.Metric != "cpu.foreign" || k.Per != "second" {
			continue
		}
		for _, v := range k.Values {
			if x, ok := v.Get(); ok && quantity.Finite(x) && x >= 0 {
				least = min(least, x)
			}
		}
	}
	return least, !math.IsInf(least, 1)
}

// causes are the shown causes of a difference. Throughput is CPU time received per second over CPU time per
// operation, so the logarithm of a loss is the sum of two.
func causes(w arrange.Workload, x record.Effect, work *record.Effect, beside bool) (out []record.Cause) {
	const some = 0.2 // of the loss
	of := func(r record.Ratio) float64 { return math.Log(r.Ratio) / math.Log(x.Typical.Ratio) }
	if arrange.Moved(x) && x.Verdict.Worse() {
		if work != nil && work.Verdict.Worse() && -of(*work.Typical) > some {
			out = append(out, record.CauseWork)
		}
		if p := x.Parts; p != nil && p.CPU.Side() < 0 && of(p.CPU) > some {
			if beside {
				out = append(out, record.CauseOther)
			} else {
				out = append(out, received(w, x))
			}
		}
	}
	if arrange.Moved(x) && flushes(w, x) && !slices.Contains(out, record.CauseDisk) {
		out = append([]record.Cause{record.CauseDisk}, slices.DeleteFunc(out, func(c record.Cause) bool { return c == record.CauseCPU || c == record.CauseWait })...)
	}
	if x.Intermittent && x.Typical != nil && !x.Verdict.Better() { // stalls slow, so they are no cause of a gain
		out = append(out, record.CauseBursts)
	}
	if slices.ContainsFunc(w.TwoModes, func(m record.ArmModes) bool { return m.Arm == x.Arm || m.Arm == w.Baseline }) {
		out = append(out, record.CauseSpeeds)
	}
	return out
}

// flushes reports whether the arm that is faster flushes the disk less than a tenth as often for an operation.
func flushes(w arrange.Workload, x record.Effect) bool {
	const seldom = 0.1
	for _, k := range w.Kernel {
		if k.Metric+observe.PerOp != observe.Flushes || k.Per != "operation" {
			continue
		}
		arm, known := k.Values[x.Arm].Get()
		base, also := k.Values[x.Baseline].Get()
		if x.Verdict.Worse() {
			arm, base = base, arm
		}
		return known && also && base > 0 && arm < seldom*base
	}
	return false
}

// received says why an arm received less CPU time, by the probes of the arm and of the baseline: it was
// throttled, waited for the disk, or waited for something else that is no CPU. Then its threads wait for a
// CPU less often, and not more often all at once.
func received(w arrange.Workload, x record.Effect) record.Cause {
	for _, o := range observe.Table(func(o observe.Observation) bool { return o.Least > 0 && o.Answer != "" }) {
		if o.Counts(difference(w, x, o.Name), 0) {
			return o.Answer
		}
	}
	if difference(w, x, "pressure.cpu.some") <= -observe.ATwentieth && difference(w, x, "pressure.cpu.full") <= 0 {
		return record.CauseWait
	}
	return record.CauseCPU
}

// difference is by how much a probe reads more in the arm than in the baseline; 0 where it is not known. A
// baseline without a limit has no reading of throttling, which is 0.
func difference(w arrange.Workload, x record.Effect, probe string) float64 {
	for _, k := range w.Kernel {
		arm, known := k.Values[x.Arm].Get()
		base, _ := k.Values[x.Baseline].Get()
		if k.Metric == probe && known {
			return arm - base
		}
	}
	return 0
}

// networkShare is the share of a loss, as logarithms, that the shown steps of the network have.
func networkShare(r record.AnswerRow) (share float64) {
	if r.Effect == nil || !arrange.Moved(*r.Effect) {
		return 0
	}
	for _, x := range r.Steps {
		if x.Arm == "network" || x.Arm == "nat" {
			share += math.Log(x.Typical.Ratio) / math.Log(r.Effect.Typical.Ratio)
		}
	}
	return share
}

// byNetwork puts the network in the place of less CPU time received where an option whose arms differ in
// nothing else has most of the loss: what forwards its packets is not the arm's, and the arm waits for it.
func byNetwork(r record.AnswerRow, options []record.Effect) record.AnswerRow {
	if r.Says.Word != record.SaysSlower || r.Effect == nil || !arrange.Moved(*r.Effect) {
		return r
	}
	for _, x := range options {
		if x.Arm != r.Arm || !x.NetworkAlone || !arrange.Moved(x) || math.Log(x.Typical.Ratio)/math.Log(r.Effect.Typical.Ratio) < half {
			continue
		}
		rest := slices.DeleteFunc(slices.Clone(r.Says.Causes), func(c record.Cause) bool { return c == record.CauseCPU || c == record.CauseWait })
		r.Says.Causes = append([]record.Cause{record.CauseNetwork}, rest...)
		return r
	}
	return r
}

// steps are the layers that are shown to differ from the layer below, bottom up, and the arms of the
// layers that are not shown to. A ladder of one step has none.
func steps(w arrange.Workload) (shown []record.Effect, not []string) {
	if len(w.Ladder) <= 2 {
		return nil, nil
	}
	for _, arm := range w.Ladder {
		step, ok := w.Remainder[arrange.Key{Metric: w.Primary, Arm: arm}]
		if !ok {
			step, ok = w.Step[arrange.Key{Metric: w.Primary, Arm: arm}]
		}
		switch {
		case ok && arrange.Moved(step):
			shown = append(shown, step)
		case ok:
			not = append(not, arm)
		}
	}
	return shown, not
}
