package workload

import (
	"encoding/json"

	"github.com/tarelab/tare/internal/loads/load"
)

// What the built-in loads have in common.

// loadTask starts a built-in load in this binary.
func LoadTask(kind string, params any) Task { return HiddenTask(load.Command, kind, params) }

// hiddenTask is a hidden command of this binary.
func HiddenTask(command, kind string, params any) Task {
	b, err := json.Marshal(params)
	if err != nil {
		panic(err) // a struct of numbers and words
	}
	return Task{Args: []string{command, kind, string(b)}}
}

// closedLoop is the metrics of a load that goes as fast as it can.
func ClosedLoop() []Metric { return []Metric{Throughput, P50, P95, P99, CPUPerOp} }

// openLoop is the metrics of a load at a given rate: the throughput is the
// same in all arms then, unless one cannot keep up.
func OpenLoop() []Metric { return []Metric{P50, P95, P99, CPUPerOp, Throughput} }
