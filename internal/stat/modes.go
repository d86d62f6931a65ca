package stat

import "math"

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
		return runsAbout(y, m.Cut) < NormalQuantile(0.01)
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
