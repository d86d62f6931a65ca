package export

import (
	"io"
	"slices"

	"github.com/tarelab/tare/internal/quantity"
	"github.com/tarelab/tare/record"
)

// bencherMetric is one value of the Bencher Metric Format,
// https://bencher.dev/docs/reference/bencher-metric-format.
type bencherMetric struct {
	Value float64  `json:"value"`
	Lower *float64 `json:"lower_value,omitempty"`
	Upper *float64 `json:"upper_value,omitempty"`
}

// Bencher prints the effects as Bencher Metric Format JSON: a benchmark per arm,
// "experiment/workload/arm"; per metric the measure "throughput-ratio", the
// typical effect (1.0 is equal) with its interval, and "throughput", what the
// arm did in the metric's base unit, which has no interval.
func Bencher(w io.Writer, e *record.Effects) error {
	out := map[string]map[string]bencherMetric{}
	put := func(workload, arm, measure string, m bencherMetric) {
		name := workload + "/" + arm
		if e.Experiment != "" {
			name = e.Experiment + "/" + name
		}
		if out[name] == nil {
			out[name] = map[string]bencherMetric{}
		}
		out[name][measure] = m
	}
	for _, a := range e.Arms {
		for metric, v := range a.Values {
			if x, ok := v.Get(); ok {
				put(a.Workload, a.Arm, metric, bencherMetric{Value: x})
			}
		}
	}
	for _, x := range slices.Concat(e.Effects, e.Twin) {
		if r := x.Typical; r != nil && quantity.Finite(r.Ratio) && quantity.Finite(r.Low) && quantity.Finite(r.High) {
			put(x.Workload, x.Arm, x.Metric+"-ratio", bencherMetric{r.Ratio, &r.Low, &r.High})
		}
	}
	return Object(w, out)
}
