package report

import (
	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/record"
)

// workload has the effects of one workload and the language in which they are printed.
type workload struct {
	arrange.Workload
	in Language
}

func (in Language) workloads(e *record.Effects) []workload {
	var ws []workload
	for _, w := range arrange.Workloads(e) {
		ws = append(ws, workload{w, in})
	}
	return ws
}

// named is a workload of which only the result is known, or the name.
func (in Language) named(r record.WorkloadResult) workload {
	return workload{arrange.Workload{WorkloadResult: r}, in}
}

func key(metric, arm string) arrange.Key { return arrange.Key{Metric: metric, Arm: arm} }
