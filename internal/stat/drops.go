package stat

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// leeBounds bounds the error of a mean by selection (Lee 2009, Rev. Econ. Stud. 76, p. 1071). One arm kept more of its
// windows than the other; excess is the difference as a share of values. The bounds are the smallest and the largest
// mean that remain after values of that share are removed, less the mean of all values. Lo <= 0 <= Hi; both are 0
// without excess, and infinite when no value would remain. A fractional number of values is removed as a fraction.
func leeBounds(values []float64, excess float64) Interval {
	n := float64(len(values))
	switch {
	case !(excess > 0) || n == 0:
		return Interval{}
	case excess >= 1 || floats.HasNaN(values):
		return Interval{math.Inf(-1), math.Inf(1)}
	}
	s := slices.Sorted(slices.Values(values))
	mean, left := average(s), n*(1-excess)
	low := ofFirst(s, left) - mean
	slices.Reverse(s)
	high := ofFirst(s, left) - mean
	return Interval{math.Min(low, 0), math.Max(high, 0)}
}

// ofFirst is the mean of the first n values, of the last of them a part.
func ofFirst(x []float64, n float64) float64 {
	whole := int(n)
	sum := sumOf(x[:whole])
	if whole < len(x) {
		sum += (n - float64(whole)) * x[whole]
	}
	return sum / n
}

// Bound is by how much the two ends of the interval of Against(arm) move for what dropped windows may hide. kept is the
// share of each arm's windows that were kept. The values of the arm that kept more, without the effects of their
// blocks, are trimmed to the share of the other arm (leeBounds).
func (f *Fit) Bound(arm int, kept []float64) Interval {
	c := f.Against(arm)
	if !f.estimable(c) || len(kept) != len(c) {
		return Interval{math.Inf(-1), math.Inf(1)}
	}
	share := 0.0
	for a, x := range c {
		if x < 0 {
			share -= x * kept[a]
		}
	}
	var own, other []float64
	for i, a := range f.layout.arm {
		switch {
		case c[a] > 0:
			own = append(own, f.residual[i])
		case c[a] < 0:
			other = append(other, f.residual[i])
		}
	}
	if kept[arm] >= share {
		return leeBounds(own, 1-share/kept[arm])
	}
	b := leeBounds(other, 1-kept[arm]/share)
	return Interval{-b.Hi, -b.Lo}
}

// Drop tells whether a window that was taken was dropped.
type Drop int8

const (
	NotTaken Drop = iota
	Kept
	Dropped
)

// DropRates tests whether arms lose windows at different rates: Stat is the sum
// over arms of (dropped - expected)^2/expected, expected when any arm of a block
// is as likely as another, and P the share of draws that have as much when what
// happened in each block is dealt out anew to its arms (Fisher 1935, The Design of
// Experiments, section 21; the draw itself counts: Phipson and Smyth 2010, SAGMB
// 9(1):39). rows are blocks of arms. NaN when nothing was dropped.
func DropRates(rows [][]Drop, draws int, rng *rand.Rand) Test {
	var sets []dropSet
	arms := 0
	for _, row := range rows {
		if s := dropsOf(row); s.dropped > 0 {
			sets, arms = append(sets, s), max(arms, len(row))
		}
	}
	if len(sets) == 0 || draws < 1 {
		return Test{math.NaN(), math.NaN()}
	}
	expect, seen := make([]float64, arms), make([]float64, arms)
	for _, s := range sets {
		for _, a := range s.taken {
			expect[a] += float64(s.dropped) / float64(len(s.taken))
		}
	}
	excess := func() (sum float64) {
		clear(seen)
		for _, s := range sets {
			for _, a := range s.taken[:s.dropped] {
				seen[a]++
			}
		}
		for a, e := range expect {
			if e > 0 {
				sum += (seen[a] - e) * (seen[a] - e) / e
			}
		}
		return sum
	}
	stat, reached := excess(), 1.0
	for range draws {
		for _, s := range sets {
			rng.Shuffle(len(s.taken), func(i, j int) { s.taken[i], s.taken[j] = s.taken[j], s.taken[i] })
		}
		if excess() >= stat*(1-1e-9) {
			reached++
		}
	}
	return Test{stat, reached / float64(draws+1)}
}

// dropSet is the arms of a block, those first whose window was dropped.
type dropSet struct {
	taken   []int
	dropped int
}

func dropsOf(row []Drop) (s dropSet) {
	for a, d := range row {
		switch d {
		case Dropped:
			s.taken = slices.Insert(s.taken, s.dropped, a)
			s.dropped++
		case Kept:
			s.taken = append(s.taken, a)
		}
	}
	return s
}
