package record

import "math"

// Intervals of ratios and shares. Apart from the analysis' judge, which makes verdicts, comparisons with the ends of an
// interval are here alone (make lint).

// point is the distance of two ends, as a ratio, from which they are printed as two.
const point = 0.01

// Known reports whether the ratio has an interval of positive, finite ends.
func (r Ratio) Known() bool {
	return r.Low > 0 && r.Ratio > 0 && r.High >= r.Low && !math.IsInf(r.High, 0)
}

// Side is -1 if the whole interval is below 1, +1 if it is above, and 0 if it holds 1 or an end is unknown.
func (r Ratio) Side() int {
	switch {
	case r.High < 1:
		return -1
	case r.Low > 1:
		return 1
	}
	return 0
}

// Holds reports whether x is in the interval.
func (r Ratio) Holds(x float64) bool { return r.Low <= x && x <= r.High }

// Within reports whether the whole interval is nearer to 1 than the margin, a ratio.
func (r Ratio) Within(margin float64) bool { return r.Low > 1/(1+margin) && r.High < 1+margin }

// Far is the distance of the end that is farther from 1, as a logarithm.
func (r Ratio) Far() float64 { return max(math.Abs(math.Log(r.Low)), math.Abs(math.Log(r.High))) }

// Most is the distance of the end that is farther from 1, as a ratio.
func (r Ratio) Most() float64 { return max(1-r.Low, r.High-1) }

// Half is the half-width on the wider side, as a ratio.
func (r Ratio) Half() float64 { return max(r.High-r.Ratio, r.Ratio-r.Low) }

// Inverse is the interval of 1 over the ratio.
func (r Ratio) Inverse() Ratio { return Ratio{Ratio: 1 / r.Ratio, Low: 1 / r.High, High: 1 / r.Low} }

// Meets reports whether the whole interval is on the good side of a limit, a ratio, and misses whether it is on the other
// side. better is the direction of the metric, 1 or -1.
func (r Ratio) Meets(limit float64, better int) (meets, misses bool) {
	if better < 0 {
		return r.High <= limit, r.Low > limit
	}
	return r.Low >= limit, r.High < limit
}

// Apart reports whether two intervals have nothing in common.
func Apart(a, b Ratio) bool { return a.High < b.Low || b.High < a.Low }

// Above reports whether the whole interval is above x.
func (s Share) Above(x float64) bool { return s.Low > x }

// Below reports whether the whole interval is below x.
func (s Share) Below(x float64) bool { return s.High < x }

// AtMost is the share with its interval, as far as it is not larger than most.
func (s Share) AtMost(most float64) Share {
	return Share{Share: min(s.Share, most), Low: min(s.Low, most), High: min(s.High, most)}
}

// Around is the interval that is printed and drawn. Of an effect that is shown it is Typical, on which the verdict
// rests, and Farther says whether the bound has to be named beside it; of any other it is Bound, or Typical where no end
// of Bound is a percentage point farther. nil: there is none.
func (x Effect) Around() *Ratio {
	if x.Verdict.Differs() && !x.Intermittent || !x.beyondTypical() {
		return x.Typical
	}
	return x.Bound
}

// Farther reports whether Bound allows a loss that is a percentage point or more beyond Around.
func (x Effect) Farther() bool {
	b, t := x.Bound, x.Typical
	if x.AtMost == 0 || !x.Verdict.Worse() || b == nil || x.Around() != t {
		return false
	}
	if t.Ratio < 1 {
		return t.Low-b.Low > point
	}
	return b.High-t.High > point
}

func (x Effect) beyondTypical() bool {
	b, t := x.Bound, x.Typical
	return b != nil && t != nil && (t.Low-b.Low > point || b.High-t.High > point)
}
