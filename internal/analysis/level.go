package analysis

import (
	"maps"
	"math"
	"slices"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// reached is the level of the latency quantile of the load's objective in an arm: the quantile q of all
// operations, with the interval of Woodruff (1952, JASA 47, p. 635). Let S be the standard error of the
// share of operations below that level, with launches as clusters. Then the interval ends at the quantiles
// q - tS and q + tS. A level, unlike an effect, has nothing beside it that cancels what a launch has of
// its own, so launches are the only units. nil: the load has no objective.
func (t *table) reached(arm string) *record.ArmLevel {
	o := t.load.Objective
	if o == nil {
		return nil
	}
	m, ok := t.measureOf(o.Metric)
	if !ok || m.Quantile == 0 {
		return &record.ArmLevel{Reason: unknownMetric}
	}
	all := t.pool(arm)
	x := all.quantiles(m.Quantile)[0]
	if math.IsNaN(x) || float64(all.total)*(1-m.Quantile) < tailWindow {
		return &record.ArmLevel{Reason: fewBeyond}
	}
	if open(x) {
		return &record.ArmLevel{Reason: beyondBuckets}
	}
	below, count := map[int]float64{}, map[int]float64{} // by launch
	for i := range t.rows {
		if w := t.at(&t.rows[i], arm); w != nil {
			launch := t.rows[i].launch
			below[launch] += w.latency.below(x * 1e9)
			count[launch] += float64(w.timed)
		}
	}
	out := &record.ArmLevel{Value: x, Launches: len(count)}
	if len(count) < metric.LeastLaunches {
		out.Reason = fewLaunches(len(count))
		return out
	}
	squares, n := 0.0, float64(len(count))
	for _, launch := range slices.Sorted(maps.Keys(count)) {
		d := below[launch] - m.Quantile*count[launch]
		squares += d * d
	}
	half := stat.StudentQuantile(1-t.alpha/2, n-1) * math.Sqrt(n/(n-1)*squares) / float64(all.total)
	switch low, high := m.Quantile-half, m.Quantile+half; {
	case !(half > 0):
		out.Reason = errorUnknown
	case low <= 0 || float64(all.total)*(1-high) < 1:
		out.Reason = fewBeyond
	default:
		ends := all.quantiles(low, high)
		out.Low, out.High = ends[0], ends[1]
	}
	return out
}

// The probe values of a CPU quota.
const (
	quotaPeriods     = "cpu.periods"
	throttledPeriods = "cpu.throttled_periods"
)

// cpuLimit is the CPU limit of an arm; nil: no arm of the load has one.
func (t *table) cpuLimit(arm string) *record.CPULimit {
	if !slices.ContainsFunc(t.load.Arms, func(a record.Arm) bool { return a.CPUs > 0 }) {
		return nil
	}
	a, s := t.arm(arm), t.summed(arm)
	out := &record.CPULimit{CPUs: a.CPUs, Burst: a.Burst, Weight: a.Weight}
	out.Used = t.over(record.ProbeMetric{Name: cpuMetric}, cpuMetric, arm, s)
	out.Throttled = record.Number(0)
	if a.CPUs > 0 {
		out.Throttled = t.over(record.ProbeMetric{Name: throttledPeriods, Of: quotaPeriods}, throttledPeriods, arm, s)
	}
	return out
}
