package analysis

import (
	"math"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

const (
	equivalence   = 0.05 // level of each of the two one-sided tests
	discoveryRate = 0.10 // false discovery rate of metrics that are not judged
)

// family is the effects that are judged together: of the arms of a group in one metric.
type family struct {
	est []stat.Estimate
	// own are the intervals of each effect alone, joint those that hold together, inner those
	// at level 1 - 2 equivalence. p belongs to own, adjusted to joint.
	own, joint, inner []stat.Interval
	p, adjusted       []float64
}

// ofContrasts makes a family of contrasts of one fit. alpha is the error of the family, which
// the given number of judged metrics share.
func ofContrasts(f *stat.Fit, cs [][]float64, alpha float64, metrics int) family {
	out := family{joint: f.Family(cs, 1-alpha, metrics), adjusted: f.FamilyPValues(cs, metrics)}
	for _, c := range cs {
		out.est = append(out.est, f.Contrast(c))
		out.own = append(out.own, f.Interval(c, 1-alpha))
		out.inner = append(out.inner, f.Interval(c, 1-2*equivalence))
		out.p = append(out.p, f.PValue(c))
	}
	return out
}

// ofEstimates makes a family of independent estimates, with Bonferroni's correction.
func ofEstimates(ests []stat.Estimate, alpha float64, metrics int) family {
	out := family{est: ests}
	n := 0.0
	for _, e := range ests {
		if e.Known() {
			n += float64(max(metrics, 1))
		}
	}
	for _, e := range ests {
		out.own = append(out.own, e.At(1-alpha))
		out.inner = append(out.inner, e.At(1-2*equivalence))
		out.joint = append(out.joint, e.At(1-alpha/max(n, 1)))
		p := e.PValue()
		out.p, out.adjusted = append(out.p, p), append(out.adjusted, math.Min(1, n*p))
	}
	return out
}

// proof is the amount of data behind an effect.
type proof struct {
	launches int // of that one of the two arms that has fewer
	// windows of that one of the two arms that has fewer, in a metric per time, of which a stalled
	// window loses all; 0: another metric, such as CPU time per operation.
	windows int
	// twoSpeeds: one of the two arms worked at two speeds, of which the typical effect is that of the more
	// frequent one.
	twoSpeeds bool
}

// enoughRuns is the proof of an imported effect: leastRuns takes the place of the launches.
var enoughRuns = proof{launches: metric.LeastLaunches}

// unseenStalls is how many windows of an arm may stall beyond what the normal interval of its total
// allows: where k windows stalled, the upper 95 % bound of their expected number (Poisson) is 1.8 to 2.1
// above k + 1.645 sqrt(k) for k from 1 to 5, and 3.0 where none did.
const unseenStalls = 2

// room is by how much each end of the interval of a total moves for stalls that were not seen.
func (p proof) room() float64 {
	if p.windows == 0 {
		return 0
	}
	return unseenStalls / float64(p.windows)
}

// sides are the intervals of one effect, typical or total: the one that is shown, and the narrower one
// of the two one-sided tests for equivalence.
type sides struct{ shown, inner stat.Interval }

// moved moves the ends of both intervals.
func (s sides) moved(by stat.Interval) sides {
	move := func(i stat.Interval) stat.Interval { return stat.Interval{Lo: i.Lo + by.Lo, Hi: i.Hi + by.Hi} }
	return sides{move(s.shown), move(s.inner)}
}

// ruling is the judgement on one effect.
type ruling struct {
	est         stat.Estimate
	sides       // of the typical effect
	total       sides
	own         stat.Interval
	p, adjusted float64
	significant bool
	verdict     record.Verdict
	reason      string
	proof       proof
	better      int
	margin      float64
}

// standard is what effects are judged by.
type standard struct {
	judged bool // keeps the family-wise error, else the false discovery rate
	better int  // +1: more is better
	margin float64
	noise  stat.Interval // of the twin; an effect inside it is not significant, unless judged
}

// judge judges all effects of a family, given the family of their totals. Here, and nowhere else, an
// interval becomes a verdict.
func (f family) judge(total family, proofs []proof, s standard) []ruling {
	discovered := stat.BenjaminiHochberg(f.p)
	out := make([]ruling, len(f.est))
	for i := range out {
		r := &out[i]
		*r = ruling{est: f.est[i], own: f.own[i], sides: sides{f.joint[i], f.inner[i]}, total: sides{total.joint[i], total.inner[i]},
			p: orOne(f.p[i]), adjusted: orOne(f.adjusted[i]), proof: proofs[i], better: s.better, margin: s.margin}
		r.significant = r.shown.Beyond(0)
		if !s.judged {
			r.shown, r.total.shown, r.adjusted = r.own, total.own[i], orOne(discovered[i])
			inside := s.noise.Lo <= r.own.Lo && r.own.Hi <= s.noise.Hi
			r.significant = r.own.Beyond(0) && r.adjusted <= discoveryRate && !inside
		}
		r.verdict, r.reason = r.of()
	}
	return out
}

// of returns the verdict. Negligible and no loss hold for the typical effect and for the total.
// Negligible follows from two one-sided tests for equivalence (Schuirmann 1987, J. Pharmacokinet.
// Biopharm. 15, p. 657), no loss from the interval that is shown, so that the family pays for it.
func (r ruling) of() (record.Verdict, string) {
	delta := math.Log1p(r.margin)
	switch {
	case math.IsNaN(r.est.Mean) || math.IsInf(r.shown.Half(), 0):
		return record.Undecided, fewBlocks
	case !(r.shown.Half() <= widest):
		return record.Undecided, noiseTooLarge
	case r.proof.launches < metric.LeastLaunches:
		return record.Undecided, fewLaunches(r.proof.launches)
	case r.significant && r.proof.twoSpeeds && !r.sameSide():
		return record.Undecided, twoSpeedsOpen
	case r.significant && r.shown.Beyond(delta):
		return direction(r.est.Mean, r.better), ""
	}
	room := r.proof.room()
	total := r.total.moved(stat.Interval{Lo: -room, Hi: room})
	typical := r.inner.Inside(delta)
	switch {
	case typical && total.inner.Inside(delta) && r.significant:
		return record.Negligible, belowMargin
	case typical && total.inner.Inside(delta):
		return record.Negligible, ""
	case r.significant:
		return direction(r.est.Mean, r.better), maybeBelow
	case r.lossless(r.shown) && r.lossless(total.shown):
		return record.NoLoss, ""
	case typical && r.total.inner.Inside(delta):
		return record.Undecided, fewForStalls(r.proof.windows, r.windowsForStalls())
	case typical:
		return record.Undecided, totalOpen
	}
	return record.Undecided, tooWide(math.Expm1(r.shown.Half()))
}

// windowsForStalls is how many windows rule out stalls that would take the total out of the margin; 0: the
// total is not in it.
func (r ruling) windowsForStalls() int {
	left := math.Log1p(r.margin) - max(r.total.inner.Hi, -r.total.inner.Lo)
	if !(left > 0) || r.proof.windows == 0 {
		return 0
	}
	return int(math.Ceil(unseenStalls / left))
}

// sameSide reports whether the total, too, is shown to differ, in the direction of the typical effect.
func (r ruling) sameSide() bool {
	return r.total.shown.Beyond(0) && (r.total.shown.Lo > 0) == (r.shown.Lo > 0)
}

// lossless reports whether an interval contains no loss larger than the margin.
func (r ruling) lossless(i stat.Interval) bool {
	delta := math.Log1p(r.margin)
	return r.better > 0 && i.Lo > -delta || r.better < 0 && i.Hi < delta
}

// widened judges again with the ends of the intervals moved by what dropped windows may hide.
func (r ruling) widened(by stat.Interval) (record.Verdict, stat.Interval) {
	r.sides, r.total = r.moved(by), r.total.moved(by)
	r.significant = r.significant && r.shown.Beyond(0)
	v, _ := r.of()
	return v, r.shown
}

// fill writes the ruling into an effect.
func (r ruling) fill(e *record.Effect) {
	e.P, e.Adjusted = &r.p, &r.adjusted
	e.Typical, e.Own = shown(r.est, r.shown), shown(r.est, r.own)
	e.Verdict, e.Reason = r.verdict, r.reason
	e.Detectable = finite(math.Expm1(stat.MDE(r.shown.Half(), power)))
}

// widest is the largest half-width that is shown, as a log ratio: a factor of 4 either way.
const widest = 1.4

// mostDF replaces infinite degrees of freedom, which JSON cannot write.
const mostDF = 1e9

// shown turns an estimate in logarithms into a ratio with its interval; nil where there is no
// estimate, or the interval is wider than widest.
func shown(e stat.Estimate, i stat.Interval) *record.Ratio {
	if math.IsNaN(e.Mean) || !(i.Half() <= widest) {
		return nil
	}
	return &record.Ratio{
		Ratio: math.Exp(e.Mean), Low: math.Exp(i.Lo), High: math.Exp(i.Hi),
		SE: finite(e.SE), DF: math.Min(e.DF, mostDF),
	}
}

func direction(logRatio float64, better int) record.Verdict {
	if (logRatio > 0) == (better > 0) {
		return record.Gain
	}
	return record.Cost
}

func orOne(p float64) float64 {
	if math.IsNaN(p) {
		return 1
	}
	return p
}
