package stat

import (
	"fmt"
	"math"
	"slices"
)

// Windows are the values of one metric in randomised blocks: Y[b][a] is the
// logarithm of what arm a did in block b, NaN (or infinite) where there is none.
// Blocks may lack any of the arms; a block with fewer than two says nothing.
// Launch[b] numbers the launch of block b, with any numbers. Control are the
// columns whose mean is the control: the baseline and its twin, or the baseline.
type Windows struct {
	Y       [][]float64
	Launch  []int
	Control []int
}

// Fit is what windows say about their arms. The model is
//
//	y = block + arm + launch of the arm + error
//
// with one standard deviation of the launch effects, common to all arms, and an
// error with a variance of its own in every arm. Everything is linear in values
// of the windows (pseudo-values, see huber), so that estimates of contrasts add
// up exactly; adding a constant to one arm moves its estimate by that constant
// and no width at all.
type Fit struct {
	Known bool   // false: nothing is estimated, for the reason Why
	Why   string // empty when Known
	// Alpha is the arms on the log scale, relative to one another; NaN for an arm
	// without windows that can be compared.
	Alpha []float64
	// LaunchSD is the standard deviation of an arm's launch effect, the median of
	// its posterior. After one launch (Launches 1) it is what is assumed beforehand
	// and no result: the launch effect was not seen. 0 where no launch has two
	// blocks: what launches add is in WindowSD.
	LaunchSD float64
	// WindowSD is the standard deviation of the error of one window, by arm.
	WindowSD []float64
	// Scores[b][a] is what block b contributes to the deviation of Alpha[a] from
	// its expectation, so that sum_b (c'Scores[b])^2 is the variance of contrast c
	// without launch effects; nil for a block that does not count.
	Scores [][]float64
	// Blocks and Launches are those that count.
	Blocks, Launches int

	control  []int
	layout   *layout
	window   [][]float64 // sum_b Scores[b] Scores[b]'
	gain     [][]float64 // times the launch variance: what launches add to window
	weigh    []float64   // by launch: weight of its windows
	inverse  [][]float64 // of the weighted information of all launches
	free     float64     // degrees of freedom left within launches, a share of blocks
	launch   launchVariance
	residual []float64 // by window
	each     float64   // variance of an arm's mean over one launch, without its effect
	arms     float64   // that have windows
}

// FitWindows estimates all arms at once. robust takes Huber's pseudo-values
// within launches, which is what a typical effect is made of, and weighs launches
// by their precision; without it the values are taken as they are and every
// window weighs the same, for totals and other values that are linear already
// (see RatioOfSums). Where no launch has two blocks, blocks and launches cannot
// be told apart and need not be: the scatter between them is the error of both.
func FitWindows(w Windows, robust bool) *Fit {
	f := &Fit{control: w.Control}
	if f.Why = w.malformed(); f.Why != "" {
		return f
	}
	f.layout = arrange(w)
	if f.Why = f.layout.unusable(); f.Why != "" {
		return f
	}
	f.Blocks, f.Launches = len(f.layout.block), f.layout.seen
	z, inflate := f.layout.y, slices.Repeat([]float64{1}, f.layout.arms)
	if robust && f.layout.clippable() {
		z, inflate = huber(f.layout)
	}
	f.estimate(z, inflate, robust)
	return f
}

// malformed says what is wrong with the shape of the input.
func (w Windows) malformed() string {
	switch {
	case len(w.Y) == 0:
		return "no block"
	case len(w.Launch) != len(w.Y):
		return fmt.Sprintf("%d blocks and %d launch numbers", len(w.Y), len(w.Launch))
	case len(w.Control) == 0:
		return "no control"
	}
	for _, row := range w.Y {
		if len(row) != len(w.Y[0]) {
			return fmt.Sprintf("blocks of %d and of %d arms", len(w.Y[0]), len(row))
		}
	}
	for _, c := range w.Control {
		if c < 0 || c >= len(w.Y[0]) {
			return fmt.Sprintf("control %d of %d arms", c, len(w.Y[0]))
		}
	}
	return ""
}

// Against is the contrast of an arm with the control: the mean of those columns
// of the control that have windows. An arm that belongs to the control is
// compared with the rest of it.
func (f *Fit) Against(arm int) []float64 {
	var with []int
	for _, c := range f.control {
		if c != arm && (f.layout == nil || f.layout.count[c] > 0) {
			with = append(with, c)
		}
	}
	c := f.zero()
	if arm >= 0 && arm < len(c) && len(with) > 0 {
		c[arm] = 1
		for _, i := range with {
			c[i] -= 1 / float64(len(with))
		}
	}
	return c
}

// Between is the contrast of one arm with one other.
func (f *Fit) Between(arm, base int) []float64 {
	c := f.zero()
	if max(arm, base) < len(c) && min(arm, base) >= 0 {
		c[arm]++
		c[base]--
	}
	return c
}

// zero is a contrast of nothing.
func (f *Fit) zero() []float64 {
	if f.layout == nil {
		return nil
	}
	return make([]float64, f.layout.arms)
}

// Contrast estimates sum_a c_a alpha_a; c sums to 0. SE is the root of the
// posterior mean of its variance, and DF what makes Student's interval at 95 % the
// one that Interval gives; where that is narrower than a normal's, as a few very
// large launch variances that are hardly possible make the mean, SE is less and DF
// +Inf. N counts launches, or blocks after a single launch. Not known for a
// contrast of arms that no block, or chain of blocks, connects.
func (f *Fit) Contrast(c []float64) Estimate {
	n := f.Launches
	if n < 2 {
		n = f.Blocks
	}
	if !f.estimable(c) {
		return unknown(math.NaN(), n)
	}
	v := f.variance(c)
	if !v.known() {
		return unknown(f.mean(c), n)
	}
	e := Estimate{Mean: f.mean(c), SE: math.Sqrt(v.window + v.gain*f.launch.meanSquare), DF: v.df, N: n}
	if len(f.launch.p) > 1 {
		e.SE, e.DF = asStudent(f.launch.around(v).half(0.05), e.SE)
	}
	return e
}

// asStudent is the SE, not above se, and the degrees of freedom with which
// Student's 95 % interval has the half-width half.
func asStudent(half, se float64) (float64, float64) {
	const tail = 0.025
	if z := -NormalQuantile(tail); half <= z*se*(1+1e-9) {
		return half / z, math.Inf(1)
	}
	lo, hi := math.Log(0.05), math.Log(hugeDF)
	for range 50 {
		mid := (lo + hi) / 2
		if p, _ := tailAndDensity(half/se, math.Exp(mid)); p > tail {
			lo = mid
		} else {
			hi = mid
		}
	}
	return se, math.Exp(hi)
}

// mean is c'alpha without the arms that do not take part, which may be NaN.
func (f *Fit) mean(c []float64) float64 {
	sum := 0.0
	for a, x := range c {
		if x != 0 {
			sum += x * f.Alpha[a]
		}
	}
	return sum
}

// estimable tells whether c is a contrast within connected arms.
func (f *Fit) estimable(c []float64) bool {
	if !f.Known || len(c) != f.layout.arms {
		return false
	}
	sum := make([]float64, len(c))
	size := 0.0
	for a, x := range c {
		if x != 0 && f.layout.count[a] == 0 {
			return false
		}
		sum[f.layout.all.component[0][a]] += x
		size += math.Abs(x)
	}
	for _, s := range sum {
		if math.Abs(s) > 1e-9*size {
			return false
		}
	}
	return size > 0 && !math.IsInf(size, 0)
}
