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

// ofContrasts makes a family of contrasts of one fit. alpha is the error of an effect alone, and the family has the given
// share of it, see firstShare.
func ofContrasts(f *stat.Fit, cs [][]float64, alpha, share float64) family {
	out := family{joint: f.Family(cs, 1-share*alpha), adjusted: f.FamilyPValues(cs)}
	for i, c := range cs {
		out.adjusted[i] = min(1, out.adjusted[i]/share)
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
	launches int // the fewer of the two arms
	// windows are the fewer of the two arms, for a metric per time: a stalled window loses all of it. 0: another metric,
	// such as CPU time per operation.
	windows int
	// twoSpeeds: one of the two arms worked at two speeds, and the typical effect is that of the more frequent one.
	twoSpeeds bool
	// invalid is why the two arms cannot be compared, whatever the figures are; nothing: they can.
	invalid record.Said
	// alike: all blocks have the same ratio, so that nothing tells the error.
	alike bool
	// dropped is by how much the ends of the intervals move for what dropped windows may hide, and why says which.
	dropped stat.Interval
	why     record.Said
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

// ruling is the final judgement on one effect.
type ruling struct {
	est         stat.Estimate
	sides       // of the typical effect
	total       sides
	bound       stat.Interval // the farthest that typical effect, total and dropped windows allow
	own         stat.Interval
	p, adjusted float64
	significant bool
	verdict     record.Verdict
	reason      record.Said
	unjudged    bool // the question is not shown, whatever this effect is
	proof       proof
	better      int
	margin      float64
	cpu         bool
}

// standard is what effects are judged by.
type standard struct {
	judged bool // keeps the family-wise error, else the false discovery rate
	better int  // +1: more is better
	margin float64
	cpu    bool          // CPU time per operation, whose verdicts have other words
	noise  stat.Interval // of the twin; an effect inside it is not significant, unless judged
	// twin is the effect of the twin where it differs from the baseline: an error of the measurement, and only an
	// effect more than twice as large is no part of it. nil: it does not differ.
	twin *record.Ratio
	// shut is the reason why no effect is shown: the question is not, and comes first. Nothing: it is open.
	shut record.Said
}

// judge judges all effects of a family, given the family of their totals. Here, and nowhere else, an
// interval becomes a verdict, and the verdict is final.
func (f family) judge(total family, proofs []proof, s standard) []ruling {
	discovered := stat.BenjaminiHochberg(f.p)
	out := make([]ruling, len(f.est))
	for i := range out {
		r := &out[i]
		*r = ruling{est: f.est[i], own: f.own[i], sides: sides{f.joint[i], f.inner[i]}, total: sides{total.joint[i], total.inner[i]},
			p: orOne(f.p[i]), adjusted: orOne(f.adjusted[i]), proof: proofs[i], better: s.better, margin: s.margin, cpu: s.cpu}
		r.significant = r.shown.Beyond(0)
		if !s.judged {
			r.shown, r.total.shown, r.adjusted = r.own, total.own[i], orOne(discovered[i])
			inside := s.noise.Lo <= r.own.Lo && r.own.Hi <= s.noise.Hi
			r.significant = r.own.Beyond(0) && r.adjusted <= discoveryRate && !inside
		}
		r.final(s)
		r.bound = r.farthest()
	}
	return out
}

// final sets the verdict, with all that may take it away: dropped windows, a question that is not shown, a twin that
// differs.
func (r *ruling) final(s standard) {
	r.verdict, r.reason = r.of()
	if r.verdict != record.Undecided && !r.proof.why.IsZero() {
		wide := *r
		wide.sides, wide.total = r.moved(r.proof.dropped), r.total.moved(r.proof.dropped)
		wide.significant = r.significant && wide.shown.Beyond(0)
		if v, _ := wide.of(); v != r.verdict {
			r.verdict, r.reason = record.Invalid, r.proof.why
		}
	}
	if !s.shut.IsZero() && r.differs() {
		r.verdict, r.reason, r.unjudged = record.Undecided, s.shut, true
	}
	if s.twin != nil && r.verdict != record.Invalid && !r.outgrows(*s.twin) {
		r.verdict, r.reason = record.Invalid, twinDiffersBy(s.twin)
	}
}

// differs reports whether the effect is shown.
func (r ruling) differs() bool { return r.verdict.Differs() }

// outgrows reports whether an effect is shown and more than twice as large as the twin's, at the ends of their intervals
// where the one is smallest and the other largest: most of it is the arm's, whatever the error of the twin is.
func (r ruling) outgrows(twin record.Ratio) bool {
	return r.differs() && r.shown.Beyond(0) && min(math.Abs(r.shown.Lo), math.Abs(r.shown.Hi)) > 2*twin.Far()
}

// farthest returns the farthest that the typical effect, the total with room for stalls that were not seen, and dropped
// windows allow. The end of a shown effect that is nearer to 0 is the typical one's: it is what was shown.
func (r ruling) farthest() stat.Interval {
	typical, room := r.moved(r.proof.dropped).shown, r.proof.room()
	total := r.total.moved(r.proof.dropped).moved(stat.Interval{Lo: -room, Hi: room}).shown
	out := stat.Interval{Lo: min(typical.Lo, total.Lo), Hi: max(typical.Hi, total.Hi)}
	if r.differs() {
		if typical.Lo > 0 {
			out.Lo = typical.Lo
		} else {
			out.Hi = typical.Hi
		}
	}
	return out
}

// of returns the verdict. Negligible and no loss hold for the typical effect and for the total.
// Negligible follows from two one-sided tests for equivalence (Schuirmann 1987, J. Pharmacokinet.
// Biopharm. 15, p. 657), no loss from the interval that is shown, so that the family pays for it.
func (r ruling) of() (record.Verdict, record.Said) {
	delta := math.Log1p(r.margin)
	switch {
	case !r.proof.invalid.IsZero():
		return record.Invalid, r.proof.invalid
	case r.proof.alike:
		return record.Undecided, blocksAlike
	case math.IsNaN(r.est.Mean) || math.IsInf(r.shown.Half(), 0):
		return record.Undecided, fewBlocks
	case !(r.shown.Half() <= widest):
		return record.Undecided, noiseTooLarge
	case r.proof.launches < metric.LeastLaunches:
		return record.Undecided, fewLaunches(r.proof.launches)
	case r.significant && r.proof.twoSpeeds && !r.sameSide():
		return record.Undecided, twoSpeedsOpen
	case r.significant && r.shown.Beyond(delta):
		return r.direction(), record.Said{}
	}
	room := r.proof.room()
	total := r.total.moved(stat.Interval{Lo: -room, Hi: room})
	typical := r.inner.Inside(delta)
	switch {
	case typical && total.inner.Inside(delta) && r.significant:
		return record.NoDifference, belowMargin
	case typical && total.inner.Inside(delta):
		return record.NoDifference, record.Said{}
	case r.significant:
		return r.direction(), maybeBelow
	case r.lossless(r.shown) && r.lossless(total.shown):
		return record.NoLoss, record.Said{}
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

// fill writes the ruling into an effect. total is the estimate of the total. An effect whose interval is too wide to be
// shown, or that rests on nothing, has no number: programs would read a mean without its interval as a result.
func (r ruling) fill(e *record.Effect, total stat.Estimate) {
	e.Verdict, e.Reason, e.Unjudged = r.verdict, r.reason, r.unjudged
	if r.proof.alike {
		e.Observed = finite(math.Exp(r.est.Mean))
	}
	typical := shown(r.est, r.shown)
	if typical == nil || r.proof.alike || r.proof.invalid == idleBaseline {
		return
	}
	e.P, e.Adjusted = &r.p, &r.adjusted
	e.Typical, e.Own, e.Total = typical, shown(r.est, r.own), shown(total, r.total.shown)
	if r.proof.launches >= metric.LeastLaunches {
		e.Bound = shown(r.est, r.bound)
		e.AtMost = r.atMost(e.Bound)
	}
	e.Detectable = finite(math.Expm1(stat.MDE(r.shown.Half(), power)))
}

// informative is the largest loss in an undecided interval that is told.
const informative = 0.5

// atMost is the largest loss in an interval; of an effect without a difference the largest difference.
func (r ruling) atMost(bound *record.Ratio) float64 {
	if bound == nil {
		return 0
	}
	less, more := max(0, 1-bound.Low), max(0, bound.High-1)
	loss, gain := less, more
	if r.better < 0 {
		loss, gain = more, less
	}
	switch {
	case r.verdict == record.NoDifference:
		return max(loss, gain)
	case r.verdict.Better(), r.verdict == record.Undecided && loss > informative:
		return 0
	}
	return loss
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

// direction is the verdict of an effect that is shown.
func (r ruling) direction() record.Verdict {
	switch better := (r.est.Mean > 0) == (r.better > 0); {
	case r.cpu && better:
		return record.LessCPU
	case r.cpu:
		return record.MoreCPU
	case better:
		return record.Faster
	}
	return record.Slower
}

func orOne(p float64) float64 {
	if math.IsNaN(p) {
		return 1
	}
	return p
}
