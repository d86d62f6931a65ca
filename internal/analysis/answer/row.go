package answer

import (
	"cmp"
	"math"
	"slices"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/base/messages"
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

// says is the answer of an arm: by the primary metric; by CPU time per operation where that is
// undecided, or where the CPU time that the arm received is the outcome of a competition with other
// work and not of the arm's own limit. Beside a neighbour of the run that competition is the question: other is 0 then.
func says(w arrange.Workload, arm string, other float64) record.Says {
	x, ok := w.PrimaryOf(arm)
	if !ok {
		return record.Says{Word: record.SaysSkipped, Reason: messages.In(messages.English).Text("reason.nowindow")}
	}
	work := efficiency(w, arm)
	beside := work != nil && work.Typical != nil && x.Parts != nil && other > competing && !heldBack(w, x)
	s := verdict(w, x)
	switch {
	case s.Word == record.SaysInvalid:
	case work != nil && work.Typical != nil && (beside || s.Word == record.SaysUndecided):
		if by := verdict(w, *work); beside || by.Word.Decided() {
			s, s.Metric = by, metric.CPUPerOp.Name
		}
	}
	for _, d := range w.Differing() {
		why := messages.In(messages.English).Text("reason.twin", "effect", quantity.Interval(d.Typical))
		if s.Metric == "" && arrange.Outgrows(x, d) {
			s.Reason = cmp.Or(s.Reason, why)
			continue
		}
		s = record.Says{Word: record.SaysInvalid, Reason: why}
	}
	s.Causes = causes(w, x, work, beside)
	return s
}

// verdict is the verdict of one effect, with its bound and the time that would decide it.
func verdict(w arrange.Workload, x record.Effect) record.Says {
	s := record.Says{Reason: x.Unequal}
	switch {
	case x.Verdict == record.Invalid:
		s.Word, s.Reason = record.SaysInvalid, x.Reason
	case x.Verdict == record.Cost && x.Typical != nil:
		s.Word = record.SaysSlower
	case x.Verdict == record.Gain && x.Typical != nil:
		s.Word = record.SaysFaster
	case x.Verdict == record.Negligible && x.Typical != nil:
		s.Word, s.Bound = record.SaysNoDifference, max(loss(w, x, x.Typical, x.Total, x.Bound), gain(w, x, x.Typical, x.Total, x.Bound))
	case x.Verdict == record.NoLoss && x.Typical != nil:
		s.Word, s.Bound = record.SaysNoLoss, loss(w, x, x.Typical, x.Total, x.Bound)
	case w.FewLaunches(x):
		s.Word, s.Reason, s.Seconds = record.SaysUndecided, x.Reason, max(w.MoreLaunches(x), x.Needed)
	case x.Typical == nil:
		s.Word, s.Reason = record.SaysUndecided, x.Reason
	default:
		s.Word, s.Seconds = record.SaysUndecided, x.Needed
		if s.Bound = loss(w, x, x.Typical, x.Bound); s.Bound > informative {
			s.Bound = 0
		}
	}
	return s
}

// informative is the largest loss in an undecided interval that is told.
const informative = 0.5

// loss is the largest loss in any of the intervals, as a ratio; 0 if none contains a loss.
func loss(w arrange.Workload, x record.Effect, all ...*record.Ratio) (most float64) {
	for _, r := range all {
		switch {
		case r == nil:
		case w.MoreIsBetter(x.Metric):
			most = max(most, 1-r.Low)
		case quantity.Finite(r.High):
			most = max(most, r.High-1)
		}
	}
	return most
}

// gain is the largest gain in any of the intervals, as a ratio.
func gain(w arrange.Workload, x record.Effect, all ...*record.Ratio) (most float64) {
	for _, r := range all {
		switch {
		case r == nil:
		case !w.MoreIsBetter(x.Metric):
			most = max(most, 1-r.Low)
		case quantity.Finite(r.High):
			most = max(most, r.High-1)
		}
	}
	return most
}

// efficiency is the effect of an arm on operations per CPU second; nil if it has no verdict.
func efficiency(w arrange.Workload, arm string) *record.Effect {
	x, ok := w.Effect[arrange.Key{Metric: metric.Efficiency.Name, Arm: arm}]
	if !ok || w.Primary != metric.Throughput.Name || x.Exploratory {
		return nil
	}
	return &x
}

// heldBack reports whether the arm's own limit kept more CPU time from it than other work used.
func heldBack(w arrange.Workload, x record.Effect) bool {
	foreign, known := foreignWork(w.Kernel, w.Name)
	return known && difference(w, x, "cpu.throttled") > foreign
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

// causes are the shown causes of a loss. Throughput is CPU time received per second times operations
// per CPU second, so the logarithm of a loss is the sum of two.
func causes(w arrange.Workload, x record.Effect, work *record.Effect, beside bool) (out []record.Cause) {
	lost := arrange.Moved(x) && x.Verdict == record.Cost
	if lost && work != nil && work.Typical != nil {
		share := math.Log(work.Typical.Ratio) / math.Log(x.Typical.Ratio)
		if work.Verdict == record.Cost && share > 0.2 {
			out = append(out, record.CauseWork)
		}
		same := work.Verdict == record.Negligible || work.Verdict == record.NoLoss
		less := work.Verdict == record.Cost && share < 0.8 || same && share < 0.5 || work.Verdict == record.Gain
		switch {
		case less && beside:
			out = append(out, record.CauseOther)
		case less:
			out = append(out, received(w, x))
		}
	}
	if x.Intermittent && x.Typical != nil {
		out = append(out, record.CauseBursts)
	}
	if slices.ContainsFunc(w.TwoModes, func(m record.ArmModes) bool { return m.Arm == x.Arm || m.Arm == w.Baseline }) {
		out = append(out, record.CauseSpeeds)
	}
	return out
}

// received says why an arm received less CPU time, by the probes of the arm and of the baseline: it was
// throttled, waited for the disk, or waited for something else that is no CPU. Then its threads wait for a
// CPU less often, and not more often all at once.
func received(w arrange.Workload, x record.Effect) record.Cause {
	const aTwentieth = 0.05 // of a CPU, or of the time
	switch more := func(probe string) float64 { return difference(w, x, probe) }; {
	case more("cpu.throttled") >= aTwentieth:
		return record.CauseThrottle
	case more("pressure.io.some") >= aTwentieth:
		return record.CauseDisk
	case more("pressure.cpu.some") <= -aTwentieth && more("pressure.cpu.full") <= 0:
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
