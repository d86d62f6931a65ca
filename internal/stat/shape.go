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
	Apart float64
	// Cut is between the two parts.
	Cut float64
	// Switches counts how often the series goes from one part to the other.
	Switches int
}

const (
	// modesApart is Ashman's D from which a cut shows two modes; fewer values
	// need more, see Two.
	modesApart = 4
	// fewest is the least number of values, and of either part.
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
	return m.Apart > modesApart*(1+8/float64(max(n, 1))) &&
		math.Min(m.Share, 1-m.Share) >= leastShare
}

// Grubbs is the value farthest from the mean of a sample, by its index, with the
// p-value of being so far under normality, two-sided and corrected for looking at
// all n (Grubbs 1950, Ann. Math. Stat. 21, p. 27; the bound n times the tail of
// Student's t). -1 and NaN for fewer than four values or without scatter.
func Grubbs(x []float64) (index int, p float64) {
	n := float64(len(x))
	e := Mean(x)
	if len(x) < 4 || !e.Known() || floats.HasNaN(x) {
		return -1, math.NaN()
	}
	for i, v := range x {
		if math.Abs(v-e.Mean) > math.Abs(x[index]-e.Mean) {
			index = i
		}
	}
	g := math.Abs(x[index]-e.Mean) / (e.SE * math.Sqrt(n))
	rest := (n-1)*(n-1) - n*g*g
	if rest <= 0 {
		return index, 0
	}
	t := g * math.Sqrt(n*(n-2)/rest)
	return index, math.Min(1, 2*n*studentTail(t, n-2))
}
