package stat

import (
	"fmt"
	"slices"
)

// Windows are the values of one metric in randomised blocks. Y[b][a] is the
// logarithm of the value of arm a in block b, NaN (or infinite) if it is missing.
// Blocks may lack any of the arms; a block with fewer than two is not used.
// Launch[b] is the launch of block b; any numbers will do. Control are the columns
// whose mean is the control: the baseline and its twin, or the baseline alone.
type Windows struct {
	Y       [][]float64
	Launch  []int
	Control []int
}

// Fit is the fitted model of windows:
//
//	y = block + arm + launch of the arm + error
//
// All estimates are linear in the windows' values (pseudo-values, see huber). So estimates
// of contrasts add up exactly, and a constant added to one arm moves its estimate by that
// constant and changes the width of no interval. The error of an estimate is described at
// errors.
type Fit struct {
	Known bool   // false: nothing is estimated, for the reason Why
	Why   string // empty when Known
	// Alpha has the estimates of the arms on the log scale; only their differences have a
	// meaning. NaN for an arm without windows that can be compared.
	Alpha []float64
	// Blocks and Launches are those that count.
	Blocks, Launches int

	control  []int
	layout   *layout
	window   [][]float64 // covariance of Alpha without launch effects
	weigh    []float64   // by launch: weight of its windows
	inverse  [][]float64 // of the weighted information of all launches
	free     float64     // degrees of freedom left within launches, a share of blocks
	residual []float64   // by window
	between  launchTable
}

// FitWindows estimates all arms at once. With robust, for typical effects, it
// replaces the values by Huber's pseudo-values within launches and weighs launches
// by their precision. Without robust, for totals and other values that are linear
// already (see Ratios), it takes the values as they are and weighs every
// window the same. If no launch has two blocks, block and launch effects cannot be
// separated; they need not be, because the scatter between blocks is the error of
// both.
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

// Against is the contrast of an arm with the control, the mean of the control's
// columns that have windows. An arm that belongs to the control itself is compared
// with the other columns of the control.
func (f *Fit) Against(arm int) []float64 {
	var with []int
	for _, c := range f.control {
		if c != arm && (f.layout == nil || f.layout.count[c] > 0) {
			with = append(with, c)
		}
	}
	return f.contrast(arm, with)
}

// Between is the contrast of one arm with one other.
func (f *Fit) Between(arm, base int) []float64 { return f.contrast(arm, []int{base}) }

// contrast has the weights of arm minus the mean of the arms with; all 0 if one of these arms does not exist.
func (f *Fit) contrast(arm int, with []int) []float64 {
	if f.layout == nil {
		return nil
	}
	c := make([]float64, f.layout.arms)
	if len(with) == 0 || min(arm, with[0]) < 0 || max(arm, with[0]) >= len(c) {
		return c
	}
	c[arm]++
	for _, i := range with {
		c[i] -= 1 / float64(len(with))
	}
	return c
}
