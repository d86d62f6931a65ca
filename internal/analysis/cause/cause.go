// Package cause finds why loads lost: the largest loss of each load and its causes, each with the part of
// the loss that it has. It is pure: it works from the effects and the plan of a result.
//
// A share is a part of the logarithm of the loss, so that the shares of causes that act one after the
// other add up to 1. The data for it are, the best first: the layers of a ladder; the only difference of
// the two arms; an arm that differs in one thing alone; the two parts of a throughput, CPU per operation
// and CPU received, with what the kernel saw. Where none of these separates causes they stand together,
// with the arms that would. A cause whose counter is 0 is excluded; a loss may have no cause that is found.
//
// It may import arrange, wire/metric, base and record. To add a cause: record.LossCause, then a row in
// factors.go or pressures.
package cause

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"github.com/tarelab/tare/internal/analysis/arrange"
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
	var besides []record.Effect
	for r, x := range rows(e, w.Name) {
		besides = append(besides, r.Besides...)
		switch {
		case x == nil && r.Says.Word == "", x != nil && len(armOf(load, x.Arm).Isolation) > 0:
		case r.Says.Word == record.SaysSlower && x != nil:
			worst = larger(worst, lossOf(w, load, *x))
		case r.Says.Word != record.SaysInvalid && r.Says.CPU == record.SaysMoreCPU && r.CPU != nil:
			worst = larger(worst, lossOf(w, load, *r.CPU))
		default:
			kept = append(kept, record.AdviceNoLoss{Workload: w.Name, Arm: r.Arm, Answer: r.Says})
		}
	}
	for _, x := range besides {
		if worst == nil && x.Verdict.Worse() {
			worst = lossOf(w, load, x)
		}
	}
	return worst, kept
}

// rows are the rows of the answer about a load, each with its effect; nil: it has none.
func rows(e *record.Effects, load string) iter.Seq2[record.AnswerRow, *record.Effect] {
	return func(yield func(record.AnswerRow, *record.Effect) bool) {
		if e.Answer == nil {
			return
		}
		for _, t := range e.Answer.Tables {
			for _, r := range t.Rows {
				x := r.Effect
				if t.Question == record.AskedPods && r.Beside != nil {
					x = r.Beside
				}
				if r.Workload == load && !yield(r, x) {
					return
				}
			}
		}
	}
}

// Open reports whether more time may show a loss: a row is undecided, or a twin differs from its baseline, which one run
// in twenty does by chance.
func Open(e *record.Effects, p record.Plan) bool {
	for _, w := range arrange.Workloads(e) {
		i := slices.IndexFunc(p.Workloads, func(x record.Workload) bool { return x.Name == w.Name })
		if i < 0 {
			continue
		}
		for r := range rows(e, w.Name) {
			if r.Says.Word == record.SaysUndecided || r.Says.Word == record.SaysInvalid && twinDiffers(w) {
				return true
			}
		}
	}
	return false
}

// twinDiffers reports whether a twin of the load differs from its baseline.
func twinDiffers(w arrange.Workload) bool {
	return slices.ContainsFunc(w.Twins, func(arm string) bool {
		x, _ := w.PrimaryOf(arm)
		return arrange.Moved(x)
	})
}

// lossOf is the loss of an effect; nil without a size.
func lossOf(w arrange.Workload, load record.Workload, x record.Effect) *loss {
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
	slices.SortStableFunc(causes, func(a, b record.CauseShare) int { return cmp.Compare(size(b), size(a)) })
	out := record.AdviceLoss{
		Workload: l.w.Name, Metric: l.effect.Metric, Arm: l.arm.Name, Baseline: l.base.Name, Neighbour: l.arm.Neighbour, Differs: l.differs(),
		Lost: *l.effect.Typical, Causes: append([]record.CauseShare{}, causes...), Candidates: []record.Candidate{}, Standing: record.StandingSkipped,
	}
	if len(causes) == 0 {
		l.unfound(&out)
	}
	return out
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
	if !r.Known() {
		return math.NaN(), math.NaN()
	}
	return math.Log(r.Ratio), math.Log(r.High/r.Low) / 2
}

// shown reports whether a share is one that matters, and shown to be above 0.
func shown(s *record.Share) bool { return s != nil && s.Share > small && s.Above(0) }

// rest is the share that is left beside other causes; nil beside none: the whole is a definition, and no measurement.
func rest(others []record.CauseShare) *record.Share {
	left := record.Share{Share: 1, Low: 1, High: 1}
	for _, c := range others {
		if c.Share != nil {
			left = record.Share{Share: left.Share - c.Share.Share, Low: left.Low - c.Share.High, High: left.High - c.Share.Low}
		}
	}
	if len(others) == 0 {
		return nil
	}
	return &left
}
