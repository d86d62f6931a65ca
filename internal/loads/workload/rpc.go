package workload

import (
	"fmt"

	"github.com/tarelab/tare/internal/loads/load"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/record"
)

// RPC is requests and responses over TCP, with the server in the arm and the client outside.
type RPC struct{}

func (RPC) Name() string { return "rpc" }

func (RPC) Title() record.Said { return record.Say("load_rpc") }

func (RPC) Params() []Param {
	return []Param{
		{Name: "concurrency", Default: "2", Check: Whole(1, 1024),
			Help: "connections, each with a thread at both ends and one request at a time"},
		{Name: "request", Default: "128B", Check: Size(8, 1<<20),
			Help: "size of a request"},
		{Name: "response", Default: "1KiB", Check: Size(8, 1<<20),
			Help: "size of a response"},
		Choice("mode", "closed",
			"closed: the next request follows the response; open: requests arrive at a fixed rate (Poisson) and latency counts from the intended time", "closed", "open"),
		{Name: "rate", Default: "5000", Check: PerSecond(1, 1e6),
			Help: "requests per second over all connections, in mode open"},
		{Name: "batch", Default: "1", Check: Whole(1, 10_000),
			Help: "requests that arrive at the same time, in mode open"},
		{Name: "rounds", Default: "0", Check: Whole(0, 1_000_000_000),
			Help: "rounds of arithmetic that the server does for a request, about 2 ns each"},
		Choice("decides", "p50", "the latency that decides in mode open", "p50", "p95", "p99"),
	}
}

func (RPC) Stages(v Values) (Stages, error) {
	r := Reader{Values: v}
	p := load.RPC{RequestBytes: int(r.Size("request")), ResponseBytes: int(r.Size("response"))}
	metrics := ClosedLoop()
	if rate := r.Number("rate"); v["mode"] == "open" {
		p.Rate, p.Batch, metrics = rate, r.Whole("batch"), decidedBy(OpenLoop(), v["decides"])
	}
	threads, rounds := r.Whole("concurrency"), r.Whole("rounds")
	if r.Err != nil {
		return Stages{}, fmt.Errorf("rpc: %w", r.Err)
	}
	return Stages{
		Threads: threads,
		Server: func(at wire.Place) Task {
			return LoadTask(load.KindRPCServer, load.RPCServer{Listen: at.Listen, Connections: threads, Rounds: rounds})
		},
		Load: func(at wire.Place) Task {
			here := p
			here.Dial = at.Dial
			return LoadTask(load.KindRPC, here)
		},
		Metrics: metrics,
	}, nil
}
