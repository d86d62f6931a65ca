package analysis

import (
	"math"

	"github.com/tarelab/tare/internal/analysis/observe"
	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/internal/wire/metric"
)

// A hypervisor that takes CPU time away makes windows slower by chance. How much of the CPU time that
// was wanted it granted in a window is known, so throughput is compared at the same share: on two
// records of shared machines that takes 15 to 37 % of the windows' scatter away.

const (
	// leastStolen is the least share of the wanted CPU time that was stolen, in the mean, for
	// throughput to be adjusted.
	leastStolen = 0.01
	// ofStealAt is the level at which a slope counts, and at which an arm counts as one that has
	// more or less time stolen than the control: what an arm causes must not be taken away.
	ofStealAt = 0.01
)

// granted is the logarithm of the share of the CPU time wanted by all processes that the hypervisor
// granted, by row and arm; nil where less than leastStolen was stolen. The share, other than
// the stolen time itself, does not depend on how much an arm wants.
func (t *table) granted() [][]float64 {
	sum, n := 0.0, 0.0
	x := t.each(func(_ int, w *window) float64 {
		stolen := t.value(w, observe.Stolen)
		used := t.value(w, cpuMetric) + t.value(w, observe.Foreign)
		if w.beside {
			used += t.value(w, observe.NeighbourCPU)
		}
		if !(stolen >= 0 && used > 0) {
			return math.NaN()
		}
		sum, n = sum+stolen/(stolen+used), n+1
		return math.Log(used / (stolen + used))
	})
	if !(n > 0 && sum/n >= leastStolen) {
		return nil
	}
	return x
}

// atSameSteal adjusts the logarithms of throughput to the mean share of CPU time that was granted. It
// returns the slope; 0: nothing is adjusted.
func (t *table) atSameSteal(m measure, y [][]float64) ([][]float64, float64) {
	if m.Name != metric.Throughput.Name {
		return y, 0
	}
	x := t.granted()
	if x == nil || t.movesSteal(x) {
		return y, 0
	}
	e := stat.Covariate(y, x)
	if !e.Known() || e.PValue() > ofStealAt || e.Mean <= 0 {
		return y, 0
	}
	slope := math.Min(e.Mean, 1) // throughput falls by no more than CPU time
	mean, n := 0.0, 0.0
	for _, row := range x {
		for _, v := range row {
			if !math.IsNaN(v) {
				mean, n = mean+v, n+1
			}
		}
	}
	mean /= n
	out := make([][]float64, len(y))
	for b, row := range y {
		out[b] = make([]float64, len(row))
		for a, v := range row {
			out[b][a] = v - slope*(x[b][a]-mean)
			if math.IsNaN(x[b][a]) {
				out[b][a] = v
			}
		}
	}
	return out, slope
}

// movesSteal reports whether an arm is shown to have more or less of its time stolen than the
// control.
func (t *table) movesSteal(x [][]float64) bool {
	f := stat.FitWindows(stat.Windows{Y: x, Launch: t.launch(), Control: t.control()}, false)
	n := float64(max(len(t.arms)-1, 1))
	for i, arm := range t.arms {
		if p := f.PValue(f.Against(i)); arm != t.load.Baseline && p*n < ofStealAt {
			return true
		}
	}
	return false
}

// stealSlope is how much of a share of stolen CPU time the throughput of a load loses, as it was
// adjusted; 0: it was not.
func stealSlope(all map[string]*fits) float64 {
	if f := all[metric.Throughput.Name]; f != nil {
		return f.steal
	}
	return 0
}
