package analysis

import (
	"math"

	"github.com/tarelab/tare/internal/stat"
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

// ruling is the judgement on one effect.
type ruling struct {
	est         stat.Estimate
	own, shown  stat.Interval
	p, adjusted float64
	significant bool
	verdict     record.Verdict
	reason      string
	inner       stat.Interval
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

// judge judges all effects of a family. Here, and nowhere else, an interval becomes a
// verdict.
func (f family) judge(s standard) []ruling {
	discovered := stat.BenjaminiHochberg(f.p)
	out := make([]ruling, len(f.est))
	for i := range out {
		r := &out[i]
		*r = ruling{est: f.est[i], own: f.own[i], shown: f.joint[i], inner: f.inner[i],
			p: orOne(f.p[i]), adjusted: orOne(f.adjusted[i]), better: s.better, margin: s.margin}
		r.significant = r.shown.Beyond(0)
		if !s.judged {
			r.shown, r.adjusted = r.own, orOne(discovered[i])
			inside := s.noise.Lo <= r.own.Lo && r.own.Hi <= s.noise.Hi
			r.significant = r.own.Beyond(0) && r.adjusted <= discoveryRate && !inside
		}
		r.verdict, r.reason = r.of(r.shown, r.inner)
	}
	return out
}

// of returns the verdict from the interval that is shown, and from the narrower one of the two
// one-sided tests for equivalence (Schuirmann 1987, J. Pharmacokinet. Biopharm. 15, p. 657).
func (r ruling) of(shown, inner stat.Interval) (record.Verdict, string) {
	delta := math.Log1p(r.margin)
	switch {
	case math.IsNaN(r.est.Mean) || math.IsInf(shown.Half(), 0):
		return record.Undecided, fewBlocks
	case !(shown.Half() <= widest):
		return record.Undecided, noiseTooLarge
	case r.significant && shown.Beyond(delta):
		return direction(r.est.Mean, r.better), ""
	case inner.Inside(delta):
		if r.significant {
			return record.Negligible, belowMargin
		}
		return record.Negligible, ""
	case r.significant:
		return direction(r.est.Mean, r.better), maybeBelow
	}
	return record.Undecided, tooWide(math.Expm1(shown.Half()))
}

// widened judges again with the ends of the interval moved by what dropped windows may hide.
func (r ruling) widened(by stat.Interval) (record.Verdict, stat.Interval) {
	move := func(i stat.Interval) stat.Interval { return stat.Interval{Lo: i.Lo + by.Lo, Hi: i.Hi + by.Hi} }
	shown := move(r.shown)
	r.significant = r.significant && shown.Beyond(0)
	v, _ := r.of(shown, move(r.inner))
	return v, shown
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
