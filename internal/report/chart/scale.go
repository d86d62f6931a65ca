package chart

import (
	"math"
	"slices"
)

// scale maps numbers to a length.
type scale struct {
	low, high float64 // data
	span      float64 // the length; 0 for 100, percent of the width
}

func (s scale) at(x float64) float64 {
	span := s.span
	if span == 0 {
		span = 100
	}
	if at := (x - s.low) / (s.high - s.low) * span; s.high > s.low && !math.IsNaN(at) {
		return min(max(at, 0), span) // rounding errors of numbers that are far apart
	}
	return span / 2
}

// clamped is at for numbers that may lie outside; beyond says on which side.
func (s scale) clamped(x float64) (at float64, beyond int) {
	switch {
	case x < s.low:
		return s.at(s.low), -1
	case x > s.high:
		return s.at(s.high), +1
	case math.IsNaN(x):
		return s.at(s.low), 0
	}
	return s.at(x), 0
}

// ticks are about n round numbers in the scale.
func (s scale) ticks(n int) []float64 {
	span := s.high - s.low
	if !(span > 0) || math.IsInf(span, 0) {
		return nil
	}
	step := math.Pow10(int(math.Floor(math.Log10(span / float64(n)))))
	for _, f := range []float64{1, 2, 5, 10} {
		if span/(f*step) <= float64(n) {
			step *= f
			break
		}
	}
	var out []float64
	for i := math.Ceil(s.low/step - 1e-9); i*step <= s.high*(1+1e-9) || i*step <= s.high+step*1e-9; i++ {
		out = append(out, i*step+0) // +0: no -0
		if len(out) > 50 {
			break
		}
	}
	return out
}

// bounds chooses the ends of an axis of changes around 0: every estimate is
// inside, and an interval that is far wider than the others is cut.
func bounds(spans []Span, least float64) (low, high float64) {
	low, high = -least, least
	var reach []float64
	for _, s := range spans {
		if !s.ok() {
			continue
		}
		reach = append(reach, max(math.Abs(s.Low), math.Abs(s.High)))
		low, high = min(low, 1.15*s.Mid), max(high, 1.15*s.Mid)
	}
	if len(reach) == 0 {
		return low, high
	}
	slices.Sort(reach)
	limit := max(3*reach[len(reach)/2], 1.4*max(high, -low))
	for _, s := range spans {
		if s.ok() {
			low, high = min(low, max(s.Low, -limit)), max(high, min(s.High, limit))
		}
	}
	pad := 0.03 * (high - low)
	return low - pad, high + pad
}

// Span is an estimate with its interval.
type Span struct{ Mid, Low, High float64 }

func (s Span) ok() bool {
	return !math.IsNaN(s.Mid-s.Mid) && !math.IsNaN(s.Low-s.Low) && !math.IsNaN(s.High-s.High)
}
