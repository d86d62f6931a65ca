// Package stat is the paired statistics of small, noisy, autocorrelated
// samples: estimates with intervals, two-level and family intervals,
// and the diagnostics that tell when the assumptions fail.
//
// Its inputs are []float64 and [][]float64, mostly logarithms with one row per
// randomised block and one column per arm. The intervals are valid only if the
// order of the arms inside each block was drawn at random; the package cannot
// check that and relies on it.
//
// FitWindows is the main estimator. Its input is blocks of windows, some of which
// may be missing, in launches; it estimates every contrast of arms with its
// interval, alone and in a family. Ratios of sums and quantiles are linearised
// first (Ratios, Tails) and then fitted by FitWindows. The other estimators are
// for values of runs and of nodes, and for checks.
//
// The package must not know what a number means: no unit, no record, no verdict,
// no name of anything that was measured. It does no input or output and keeps no
// state; random numbers come from the caller.
//
// An unknown standard error is NaN and an unknown interval is unbounded. Neither
// is ever 0.
package stat
