// Package stat is the paired statistics of small, noisy, autocorrelated
// samples: estimates with intervals, two-level and family intervals,
// and the diagnostics that tell when the assumptions fail.
//
// Its inputs are []float64 and [][]float64, mostly differences of logarithms
// between a column and its control in the same randomised row. What makes the
// intervals valid is that the order inside each row was drawn at random; the
// package cannot check that and relies on it.
//
// FitWindows is the estimator: blocks of windows, with any of them missing, in
// launches; every contrast of arms with its interval, alone and in a family.
// What is a ratio of sums or a quantile is made linear first (Ratios, Tails) and
// goes the same way. The others are for what is not windows: values of runs and of
// nodes, and checks.
//
// It must not know what a number means: no unit, no record, no verdict, no name
// of anything that was measured. It does no input or output and keeps no state;
// random numbers come from the caller.
//
// What cannot be known is NaN (a standard error) or unbounded (an interval),
// never 0.
package stat
