package stat

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Modes is a series cut in two at the place that explains most of its variance
// (Otsu 1979, IEEE SMC 9, p. 62).
type Modes struct {
	Low, High float64 // means of the two parts
	Share     float64 // of the values that are in the upper part
	// Apart is Ashman's D, sqrt(2) |high-low| / sqrt(s1^2+s2^2) (Ashman, Bird and
	// Zepf 1994, AJ 108, p. 2348), with at least the resolution of the values as
	// scatter. A normal distribution cut so has 2.7, a uniform one 3.5, an
	// exponential one 2.6. Infinite for two values only.
	Apart    float64
	Cut      float64 // between the two parts
	Switches int     // how often the series goes from one part to the other
}

const (
	// fewestModes is the least number of values, and fewestInMode of either part.
	fewestModes, fewestInMode = 10, 2
	// leastShare is the least share of the smaller mode.
	leastShare = 0.05
)

// FindModes cuts a series, given in order of time, in two. All fields are 0 for
// fewer than 10 values or without scatter.
func FindModes(x []float64) Modes {
	if len(x) < fewestModes || floats.HasNaN(x) {
		return Modes{}
	}
	s := slices.Sorted(slices.Values(x))
	at := cut(s)
	if at == 0 {
		return Modes{}
	}
	low, high := s[:at], s[at:]
	m := Modes{Low: average(low), High: average(high), Cut: (s[at-1] + s[at]) / 2, Share: float64(len(high)) / float64(len(s))}
	v := sumSquares(low, m.Low)/float64(max(1, len(low)-1)) + sumSquares(high, m.High)/float64(max(1, len(high)-1))
	m.Apart = math.Sqrt2 * (m.High - m.Low) / math.Sqrt(v)
	for i := 1; i < len(x); i++ {
		if (x[i] >= s[at]) != (x[i-1] >= s[at]) {
			m.Switches++
		}
	}
	return m
}

// cut is the index of a sorted slice at which the variance between the parts is
// largest; 0 when all values are equal.
func cut(s []float64) int {
	total := cumulate(s)
	n, best, at := float64(len(s)), 0.0, 0
	for i := fewestInMode; i <= len(s)-fewestInMode; i++ {
		if s[i] == s[i-1] {
			continue
		}
		a, b := float64(i), n-float64(i)
		d := total[i]/a - (total[len(s)]-total[i])/b
		if between := a * b * d * d; between > best {
			best, at = between, i
		}
	}
	return at
}

// Two says whether a cut of n values shows two modes: so far apart that one
// distribution rarely looks so (simulated, from n = 10 on: a normal or uniform one
// in less than 2 %, an exponential one in less than 7 %), and neither of them a
// handful of outliers.
func (m Modes) Two(n int) bool {
	return m.Apart > 4*(1+8/float64(max(n, 1))) && math.Min(m.Share, 1-m.Share) >= leastShare
}

// Timed is a window in order of time: its level and those of its two halves, as
// logarithms without what all series share; NaN where a half is not known.
type Timed struct {
	Y, First, Second float64
	Launch           int
}

const (
	// fewestTimed is the least number of windows, leastTimed the least share of the
	// smaller mode: less is a handful of outliers.
	fewestTimed = 24
	leastTimed  = 0.1
	// leastWithin is the least share of the windows that are in the rarer mode of a launch that
	// has both.
	leastWithin = 0.04
	// agreeing is the least share of a mode's windows whose halves are both in it.
	agreeing = 2.0 / 3
)

// ApartOverTime is Ashman's D from which n windows show two modes; infinite for
// too few.
func ApartOverTime(n int) float64 {
	if n < fewestTimed {
		return math.Inf(1)
	}
	return 4.5 * (1 + 8/float64(n))
}

// ModesOverTime cuts windows in two and says whether that shows two modes over
// time: two levels so far apart that windows of one rarely look so, neither of
// them rare, which change within launches and each last for longer than a window.
// A launch that has another level than the next does not count, nor do stalls:
// the halves of a window with one do not agree.
func ModesOverTime(x []Timed) (m Modes, two bool) {
	y := make([]float64, len(x))
	for i := range x {
		y[i] = x[i].Y
	}
	m = FindModes(y)
	m.Switches = 0
	if m.Apart == 0 || !(m.Apart >= ApartOverTime(len(x))) || math.Min(m.Share, 1-m.Share) < leastTimed {
		return m, false
	}
	within := 0.0 // windows of the smaller mode of each launch that has both
	var windows [2]float64
	for i, w := range x {
		switch {
		case i > 0 && w.Launch != x[i-1].Launch:
			within += min(windows[0], windows[1])
			windows = [2]float64{}
		case i > 0 && m.side(w.Y) != m.side(x[i-1].Y):
			m.Switches++
		}
		windows[m.side(w.Y)]++
	}
	within += min(windows[0], windows[1])
	return m, m.Switches >= 1 && within >= leastWithin*float64(len(x)) && m.lasting(x, y)
}

// side is 1 for the upper mode and 0 for the lower one.
func (m Modes) side(y float64) int {
	if y >= m.Cut {
		return 1
	}
	return 0
}

// lasting says whether a mode lasts for longer than a window: the halves of a
// window are in the same one. Without halves, neighbouring windows have to be
// (the runs test of Wald and Wolfowitz, at 1 %).
func (m Modes) lasting(x []Timed, y []float64) bool {
	var agree, of [2]float64
	shift := halvesApart(x)
	for _, w := range x {
		if math.IsNaN(w.First + w.Second + shift) {
			continue
		}
		side := m.side(w.Y)
		of[side]++
		if m.side(w.First-shift/2) == side && m.side(w.Second+shift/2) == side {
			agree[side]++
		}
	}
	if of[0] == 0 || of[1] == 0 {
		return runsAbout(y, m.Cut) < normalQuantile(0.01)
	}
	return agree[0] >= agreeing*of[0] && agree[1] >= agreeing*of[1]
}

// halvesApart is by how much first halves are typically above second ones.
func halvesApart(x []Timed) float64 {
	var d []float64
	for _, w := range x {
		if v := w.First - w.Second; finite(v) {
			d = append(d, v)
		}
	}
	return Median(d)
}
