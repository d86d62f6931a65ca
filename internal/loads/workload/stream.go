package workload

import (
	"fmt"

	"github.com/tarelab/tare/internal/loads/load"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/record"
)

// Stream copies memory: a neighbour that takes memory bandwidth and cache.
type Stream struct{}

func (Stream) Name() string { return "stream" }

func (Stream) Title() record.Said { return record.Say("load_stream") }

func (Stream) Params() []Param {
	return []Param{
		{Name: "threads", Default: "2", Check: Whole(1, 256), Help: "threads that copy"},
		{Name: "size", Default: "64MiB", Check: Size(2<<20, 64<<30), Help: "memory that each thread copies in; more than the caches hold"},
	}
}

func (Stream) Stages(v Values) (Stages, error) {
	r := Reader{Values: v}
	threads, p := r.Whole("threads"), load.Stream{Bytes: r.Size("size")}
	if r.Err != nil {
		return Stages{}, fmt.Errorf("stream: %w", r.Err)
	}
	return Stages{
		Threads: threads,
		Load:    func(wire.Place) Task { return LoadTask(load.KindStream, p) },
		Metrics: ClosedLoop(),
	}, nil
}
