package workload

import (
	"fmt"

	"github.com/tarelab/tare/internal/loads/load"
	"github.com/tarelab/tare/internal/wire"
)

// Stream is copying of memory: a load on its bandwidth and on the caches.
type Stream struct{}

func (Stream) Name() string { return "stream" }

func (Stream) Title() string { return "copies memory: takes bandwidth and cache" }

func (Stream) Params() []Param {
	return []Param{
		{Name: "threads", Default: "2", Check: whole(1, 256), Help: "threads that copy"},
		{Name: "size", Default: "64MiB", Check: size(2<<20, 64<<30), Help: "memory that each thread copies in; more than the caches hold"},
	}
}

func (Stream) Stages(v Values) (Stages, error) {
	r := reader{v: v}
	threads, p := r.whole("threads"), load.Stream{Bytes: r.size("size")}
	if r.err != nil {
		return Stages{}, fmt.Errorf("stream: %w", r.err)
	}
	return Stages{
		Threads: threads,
		Load:    func(wire.Place) Task { return loadTask(load.KindStream, p) },
		Metrics: closedLoop(),
	}, nil
}
