package workload

import (
	"encoding/json"
	"slices"

	"github.com/tarelab/tare/internal/loads/load"
)

// LoadTask starts a load, by its kind in catalog/bodies.
func LoadTask(kind string, params any) Task { return HiddenTask(load.Command, kind, params) }

// HiddenTask starts a hidden command of this binary with parameters in JSON.
func HiddenTask(command, kind string, params any) Task {
	b, err := json.Marshal(params)
	if err != nil {
		panic(err) // a struct of numbers and words
	}
	return Task{Args: []string{command, kind, string(b)}}
}

// ClosedLoop is the metrics of a load that runs as fast as it can.
func ClosedLoop() []Metric { return []Metric{Throughput, P50, P95, P99, cpuPerOp} }

// OpenLoop is the metrics of a load at a given rate. Latency is primary: throughput is equal in all
// arms that keep up.
func OpenLoop() []Metric { return []Metric{P50, P95, P99, cpuPerOp, Throughput} }

// decidedBy moves the metric of this name to the front: it is the primary one.
func decidedBy(metrics []Metric, name string) []Metric {
	i := slices.IndexFunc(metrics, func(m Metric) bool { return m.Name == name })
	return slices.Concat(metrics[i:i+1], metrics[:i], metrics[i+1:])
}
