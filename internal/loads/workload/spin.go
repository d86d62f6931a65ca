package workload

import (
	"fmt"

	"github.com/tarelab/tare/internal/loads/load"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/record"
)

// Spin is arithmetic without memory accesses or system calls. It loses throughput only by losing
// CPU time, and all its operations are alike: the load for losses of known size, and a neighbour.
type Spin struct{}

func (Spin) Name() string { return "spin" }

func (Spin) Title() record.Said { return record.Say("load_spin") }

func (Spin) Params() []Param {
	return []Param{
		{Name: "threads", Default: "1", Help: "threads that calculate", Check: Whole(1, 256)},
		{Name: "rounds", Default: "20000", Help: "rounds of arithmetic per operation, about 2 ns each", Check: Whole(1, 1_000_000_000)},
		{Name: "work", Default: "1", Help: "multiplies the rounds: 1.01 is a load that does 1 % more for each operation", Check: factor(0.01, 100)},
		{Name: "idle", Default: "0", Help: "share of its time in which each thread does nothing that counts: 0.01 loses 1 % of throughput, for calibration", Check: factor(0, 0.9)},
	}
}

func (Spin) Stages(v Values) (Stages, error) {
	r := Reader{Values: v}
	threads, p := r.Whole("threads"), load.Spin{Rounds: r.Whole("rounds"), Work: r.Number("work"), Idle: r.Number("idle")}
	if r.Err != nil {
		return Stages{}, fmt.Errorf("spin: %w", r.Err)
	}
	return Stages{
		Threads: threads,
		Load:    func(wire.Place) Task { return LoadTask(load.KindSpin, p) },
		Metrics: ClosedLoop(),
	}, nil
}
