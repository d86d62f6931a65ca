package stat

import (
	"math"
)

// Timed is a window in order of time: its level and those of its two halves, as
// logarithms without what all series share; NaN where a half is not known.
type Timed struct {
	Y, First, Second float64
	Launch           int
}

const (
	// apartOverTime is Ashman's D from which windows show two modes; fewer windows
	// need more, see ApartOverTime.
	apartOverTime = 4.5
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
	return apartOverTime * (1 + 8/float64(n))
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
	var within float64 // windows of the smaller mode of each launch that has both
	for _, launch := range launches(x) {
		low, high := 0.0, 0.0
		for i, w := range launch {
			if w.Y >= m.Cut {
				high++
			} else {
				low++
			}
			if i > 0 && (w.Y >= m.Cut) != (launch[i-1].Y >= m.Cut) {
				m.Switches++
			}
		}
		within += math.Min(low, high)
	}
	return m, m.Switches >= 1 && within >= leastWithin*float64(len(x)) && m.lasting(x)
}

// launches are the windows of each launch, in order.
func launches(x []Timed) (all [][]Timed) {
	from := 0
	for i := range x {
		if i+1 == len(x) || x[i+1].Launch != x[i].Launch {
			all = append(all, x[from:i+1])
			from = i + 1
		}
	}
	return all
}

// lasting says whether a mode lasts for longer than a window: the halves of a
// window are in the same one. Without halves, neighbouring windows have to be
// (the runs test of Wald and Wolfowitz, at 1 %).
func (m Modes) lasting(x []Timed) bool {
	var agree, of [2]float64
	shift := halvesApart(x)
	for _, w := range x {
		if math.IsNaN(w.First) || math.IsNaN(w.Second) || math.IsNaN(shift) {
			continue
		}
		mode := 0
		if w.Y >= m.Cut {
			mode = 1
		}
		of[mode]++
		if (w.First-shift/2 >= m.Cut) == (mode == 1) && (w.Second+shift/2 >= m.Cut) == (mode == 1) {
			agree[mode]++
		}
	}
	if of[0] == 0 || of[1] == 0 {
		sides := make([]float64, len(x))
		for i, w := range x {
			if w.Y >= m.Cut {
				sides[i] = 1
			} else {
				sides[i] = -1
			}
		}
		return runsAbout(sides, 0) < NormalQuantile(0.01)
	}
	return agree[0] >= agreeing*of[0] && agree[1] >= agreeing*of[1]
}

// halvesApart is by how much first halves are typically above second ones.
func halvesApart(x []Timed) float64 {
	var d []float64
	for _, w := range x {
		if v := w.First - w.Second; !math.IsNaN(v) && !math.IsInf(v, 0) {
			d = append(d, v)
		}
	}
	return Median(d)
}
