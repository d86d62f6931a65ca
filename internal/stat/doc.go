// Package stat is the paired statistics of small, noisy, autocorrelated
// samples: estimates with intervals, two-level and family intervals, a stopping
// rule, and the diagnostics that tell when the assumptions fail.
//
// Its inputs are []float64 and [][]float64, mostly differences of logarithms
// between a column and its control in the same randomised row. What makes the
// intervals valid is that the order inside each row was drawn at random; the
// package cannot check that and relies on it.
//
// It must not know what a number means: no unit, no record, no verdict, no name
// of anything that was measured. It does no input or output, draws no random
// numbers and keeps no state.
//
// What cannot be known is NaN (a standard error) or unbounded (an interval),
// never 0.
package stat
