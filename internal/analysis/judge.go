package analysis

import (
	"fmt"
	"math"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/record"
)

const (
	equivalence   = 0.05 // each of the two one-sided tests
	discoveryRate = 0.10 // of metrics that are not judged
)

// family is effects that are judged together: those of all arms in one metric of
// a workload.
type family struct {
	est []stat.Estimate
	// own are the intervals of each alone, joint those that hold together, inner
	// those at 1 - 2 equivalence. p and adjusted go with own and joint.
	own, joint, inner []stat.Interval
	p, adjusted       []float64
}

// ofContrasts are contrasts of one fit. alpha is the error of the family, to be
// shared by so many questions.
func ofContrasts(f *stat.Fit, cs [][]float64, alpha float64, questions int) family {
	out := family{joint: f.Family(cs, 1-alpha, questions), adjusted: f.FamilyPValues(cs, questions)}
	for _, c := range cs {
		out.est = append(out.est, f.Contrast(c))
		out.own = append(out.own, f.Interval(c, 1-alpha))
		out.inner = append(out.inner, f.Interval(c, 1-2*equivalence))
		out.p = append(out.p, f.PValue(c))
	}
	return out
}

// ofEstimates are estimates of which each has its own error (Bonferroni's).
func ofEstimates(ests []stat.Estimate, alpha float64, questions int) family {
	out := family{est: ests}
	n := 0.0
	for _, e := range ests {
		if e.Known() {
			n += float64(max(questions, 1))
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

// ruling is what is said of one effect.
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
	judged bool // the family-wise error is kept, else the false discovery rate
	better int  // +1: more is better
	margin float64
	noise  stat.Interval // of the twin; what lies inside it is not told, unless judged
}

// judge rules on all effects of a family. This is the only place where an
// interval becomes a verdict.
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

// of is the verdict by an interval, and by the narrower one of the two one-sided
// tests for equivalence (Schuirmann 1987, J. Pharmacokinet. Biopharm. 15, p. 657).
func (r ruling) of(shown, inner stat.Interval) (record.Verdict, string) {
	delta := math.Log1p(r.margin)
	switch {
	case math.IsNaN(r.est.Mean) || math.IsInf(shown.Half(), 0):
		return record.Undecided, "too few blocks to know the error; a longer --budget gives more"
	case !(shown.Half() <= widest):
		return record.Undecided, "the noise is larger than any effect that could be shown"
	case r.significant && shown.Beyond(delta):
		return direction(r.est.Mean, r.better), ""
	case inner.Inside(delta):
		if r.significant {
			return record.Negligible, "shown, but smaller than the margin"
		}
		return record.Negligible, ""
	case r.significant:
		return direction(r.est.Mean, r.better), "may be smaller than the margin"
	}
	return record.Undecided, fmt.Sprintf("±%.1f %% is too wide", 100*math.Expm1(shown.Half()))
}

// widened rules again with the interval moved at both ends by what the windows
// that were dropped may hide.
func (r ruling) widened(by stat.Interval) (record.Verdict, stat.Interval) {
	move := func(i stat.Interval) stat.Interval { return stat.Interval{Lo: i.Lo + by.Lo, Hi: i.Hi + by.Hi} }
	shown := move(r.shown)
	r.significant = r.significant && shown.Beyond(0)
	v, _ := r.of(shown, move(r.inner))
	return v, shown
}

// fill writes what was ruled into an effect.
func (r ruling) fill(e *record.Effect) {
	e.P, e.Adjusted = &r.p, &r.adjusted
	e.Typical, e.Own = shown(r.est, r.shown), shown(r.est, r.own)
	e.Verdict, e.Reason = r.verdict, r.reason
	e.Detectable = finite(math.Expm1(stat.MDE(r.shown.Half(), 0.8)))
}

// widest is the half-width, as a log ratio, beyond which an interval is not
// shown: a factor of 4 either way.
const widest = 1.4

// mostDF stands for as many degrees of freedom as anybody needs: JSON has no
// word for infinity.
const mostDF = 1e9

// shown turns an estimate in logs into a ratio with its interval; nil when
// there is no estimate, or when the interval is so wide that it says nothing.
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
