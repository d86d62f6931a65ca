// Package cause finds why loads lost: the largest loss of each load and its causes, each with the part of
// the loss that it has. It is pure: it works from the effects and the plan of a result.
//
// A share is a part of the logarithm of the loss, so that the shares of causes that act one after the
// other add up to 1. The data for it are, the best first: the layers of a ladder; the only difference of
// the two arms; an arm that differs in one thing alone; the two parts of a throughput, CPU per operation
// and CPU received, with what the kernel saw. Where none of these separates causes they stand together,
// with the arms that would.
//
// It may import arrange, wire/metric, base and record. To add a cause: record.LossCause, then a row in
// factors.go or pressures.
package cause

import (
	"math"
	"slices"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// Of returns the largest shown loss of each load, and the arms of loads that are not shown to lose.
func Of(e *record.Effects, p record.Plan) (losses []record.AdviceLoss, kept []record.AdviceNoLoss) {
	for _, w := range arrange.Workloads(e) {
		i := slices.IndexFunc(p.Workloads, func(x record.Workload) bool { return x.Name == w.Name })
		if i < 0 {
			continue
		}
		worst, without := find(e, w, p.Workloads[i])
		kept = append(kept, without...)
		if worst != nil {
			losses = append(losses, worst.advice())
		}
	}
	return losses, kept
}

// loss is an arm of a load that is shown to be slower than another one.
type loss struct {
	w         arrange.Workload
	load      record.Workload
	effect    record.Effect // of the metric that decides; Typical is not nil
	arm, base record.Arm
}

// find returns the largest loss of a load, nil without one, and its rows without a loss. Arms with
// isolation have a remedy already. Arms beside the ladder count only where no row lost.
func find(e *record.Effects, w arrange.Workload, load record.Workload) (worst *loss, kept []record.AdviceNoLoss) {
	if e.Answer == nil {
		return nil, nil
	}
	var besides []record.Effect
	for _, t := range e.Answer.Tables {
		for _, r := range t.Rows {
			if r.Workload != w.Name {
				continue
			}
			besides = append(besides, r.Besides...)
			x := r.Effect
			if t.Question == record.AskedPods && r.Beside != nil {
				x = r.Beside
			}
			says := r.Says
			if x != nil && says.Word != record.SaysInvalid && contends(armOf(load, x.Arm), armOf(load, x.Baseline)) {
				says = saysOf(w, *x)
			}
			switch {
			case x == nil && says.Word == "", x != nil && len(armOf(load, x.Arm).Isolation) > 0:
			case says.Word == record.SaysSlower && x != nil:
				worst = larger(worst, lossOf(w, load, *x, says.Metric))
			default:
				kept = append(kept, record.AdviceNoLoss{Workload: w.Name, Arm: r.Arm, Answer: says})
			}
		}
	}
	for _, x := range besides {
		if worst == nil && x.Verdict == record.Cost {
			worst = lossOf(w, load, x, "")
		}
	}
	return worst, kept
}

// contends reports whether an arm differs from its baseline in what CPU time it may receive. That CPU time is
// then the question, also beside other work on the host, where an answer goes by CPU per operation.
func contends(arm, base record.Arm) bool {
	return arm.Neighbour != base.Neighbour || arm.CPUs != base.CPUs || arm.CPUSet != base.CPUSet
}

// saysOf is the verdict of an effect by itself.
func saysOf(w arrange.Workload, x record.Effect) record.Says {
	switch {
	case x.Verdict == record.Cost && x.Typical != nil:
		return record.Says{Word: record.SaysSlower}
	case x.Verdict == record.Gain && x.Typical != nil:
		return record.Says{Word: record.SaysFaster}
	case x.Verdict == record.Invalid:
		return record.Says{Word: record.SaysInvalid, Reason: x.Reason}
	case x.Typical == nil || x.Verdict == record.Undecided:
		return record.Says{Word: record.SaysUndecided, Reason: x.Reason, Seconds: x.Needed}
	}
	bound := max(1-x.Typical.Low, 0)
	if !w.MoreIsBetter(x.Metric) {
		bound = max(x.Typical.High-1, 0)
	}
	return record.Says{Word: record.SaysNoLoss, Bound: bound}
}

// lossOf is the loss of an effect, or of the arm's CPU per operation where that decides; nil without a
// size.
func lossOf(w arrange.Workload, load record.Workload, x record.Effect, decides string) *loss {
	if decides == metric.CPUPerOp.Name {
		x = w.Effect[arrange.Key{Metric: metric.Efficiency.Name, Arm: x.Arm}]
	}
	if x.Typical == nil || !(x.Typical.Ratio > 0) || x.Typical.Ratio == 1 {
		return nil
	}
	return &loss{w: w, load: load, effect: x, arm: armOf(load, x.Arm), base: armOf(load, x.Baseline)}
}

// larger returns the larger one of two losses, either of which may be nil.
func larger(a, b *loss) *loss {
	if a == nil || b != nil && math.Abs(b.log()) > math.Abs(a.log()) {
		return b
	}
	return a
}

func armOf(load record.Workload, name string) record.Arm {
	for _, a := range load.Arms {
		if a.Name == name {
			return a
		}
	}
	return record.Arm{Name: name}
}

// log is the logarithm of the ratio.
func (l *loss) log() float64 { return math.Log(l.effect.Typical.Ratio) }

// advice is the loss with its causes, the largest share first.
func (l *loss) advice() record.AdviceLoss {
	causes := l.causes()
	slices.SortStableFunc(causes, func(a, b record.CauseShare) int {
		switch x, y := size(a), size(b); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	return record.AdviceLoss{
		Workload: l.w.Name, Metric: l.effect.Metric, Arm: l.arm.Name, Baseline: l.base.Name, Neighbour: l.arm.Neighbour,
		Lost: *l.effect.Typical, Causes: causes, Candidates: []record.Candidate{}, Standing: record.StandingSkipped,
	}
}

// size is the share of a cause; one without a share comes last.
func size(c record.CauseShare) float64 {
	if c.Share == nil {
		return math.Inf(-1)
	}
	return c.Share.Share
}

// causes are the causes of the loss.
func (l *loss) causes() []record.CauseShare {
	if steps := l.steps(); len(steps) > 0 {
		return steps
	}
	return l.factors()
}

// small is the share below which a cause is not listed.
const small = 0.1

// share is the part of the loss that a factor of its ratio has. The interval is Fieller's (1954, J. R.
// Stat. Soc. B 16:175) for independent errors. A part and the whole vary together, so the interval is
// rather too wide. nil: one of the two has no usable interval.
func (l *loss) share(part record.Ratio) *record.Share {
	a, ha := logarithm(part)
	b, hb := logarithm(*l.effect.Typical)
	whole := b*b - hb*hb
	if math.IsNaN(a+ha) || math.IsNaN(b+hb) || !(whole > 0) {
		return nil
	}
	root := a*a*b*b - whole*(a*a-ha*ha)
	if root < 0 {
		return nil
	}
	x, y := (a*b-math.Sqrt(root))/whole, (a*b+math.Sqrt(root))/whole
	return &record.Share{Share: a / b, Low: min(x, y), High: max(x, y)}
}

// logarithm is the logarithm of a ratio, and the half-width of its interval; NaN without an interval.
func logarithm(r record.Ratio) (mean, half float64) {
	if !(r.Ratio > 0 && r.Low > 0 && r.High >= r.Low) || math.IsInf(r.High, 0) {
		return math.NaN(), math.NaN()
	}
	return math.Log(r.Ratio), math.Log(r.High/r.Low) / 2
}

// all is the share of the only cause.
func all() *record.Share { return &record.Share{Share: 1, Low: 1, High: 1} }

// rest is the share that is left beside other causes.
func rest(others []record.CauseShare) *record.Share {
	left := *all()
	for _, c := range others {
		if c.Share != nil {
			left = record.Share{Share: left.Share - c.Share.Share, Low: left.Low - c.Share.High, High: left.High - c.Share.Low}
		}
	}
	return &left
}
