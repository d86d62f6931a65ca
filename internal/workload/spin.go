package workload

import (
	"fmt"

	"github.com/tarelab/tare/internal/environment"
	"github.com/tarelab/tare/internal/load"
)

// Spin is arithmetic and nothing else: no memory, no system call. It loses
// what it loses of CPU time, which makes it the load for losses of known size.
type Spin struct{}

// Name is "spin".
func (Spin) Name() string { return "spin" }

// Title is one line.
func (Spin) Title() string { return "arithmetic only: shows losses of CPU time" }

// Params are its parameters.
func (Spin) Params() []Param {
	return []Param{
		{Name: "threads", Default: "1", Help: "threads that calculate", Check: whole(1, 256)},
		{Name: "rounds", Default: "20000", Help: "rounds of arithmetic per operation, about 2 ns each", Check: whole(1, 1_000_000_000)},
	}
}

// Stages is the load alone.
func (Spin) Stages(v Values) (Stages, error) {
	r := reader{v: v}
	threads, p := r.whole("threads"), load.Spin{Rounds: r.whole("rounds")}
	if r.err != nil {
		return Stages{}, fmt.Errorf("spin: %w", r.err)
	}
	return Stages{
		Threads: threads,
		Load:    func(environment.Place) Task { return loadTask(load.KindSpin, p) },
		Metrics: closedLoop(),
	}, nil
}
