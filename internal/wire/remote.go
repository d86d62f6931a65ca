package wire

import (
	"context"
	"time"

	"github.com/tarelab/tare/internal/linux/storage"
	"github.com/tarelab/tare/internal/wire/counter"
	"github.com/tarelab/tare/record"
)

// Remote controls a load that counts where tare is not, in memory that tare does not
// share. It is paused by its gate; what is beside it, a server, runs on idle.
type Remote interface {
	// Gate closes or opens the load's gate.
	Gate(closed bool) error
	// Pause closes it, and returns when no operation is in flight, or soon after.
	Pause() error
	// Measure lets the load run for a window and reads its counters, all of it there:
	// how far away that is makes no difference to what is measured.
	Measure(ctx context.Context, w WindowSpec) (Sample, error)
	// Watch reads the probes of what runs there and the operations that it counts, as
	// long as another load is measured: it opens no gate.
	Watch(ctx context.Context, w WindowSpec) (Sample, error)
	// Try tries what becomes of what is synced beside the data of what runs there. The
	// facts are known also where the trial failed.
	Try(ctx context.Context) (storage.Trial, storage.Facts, error)
}

// WindowSpec is what happens from a thaw to the next pause.
type WindowSpec struct {
	Seed            uint64 // of the arrivals
	Discard, Length time.Duration
	// Steady is how long the load runs on after the window, for its rate far from
	// any thaw.
	Steady time.Duration
	// Whole says that the middle of a window of up to 100 ms is not marked.
	Whole bool
	// Tick asks for the operations of each of these instead of the two ends.
	Tick time.Duration
	// Values is how many numbers the load adds up itself.
	Values int
	// Asked says that the load is asked for the window, and Limit how much longer than its
	// length it may take.
	Asked bool
	Limit time.Duration
	// Neighbour says that the neighbour runs too.
	Neighbour bool
}

// Sample is what was seen from a thaw to the next pause.
type Sample struct {
	// Start is the begin of the window, CLOCK_MONOTONIC ns of this host; off by at
	// most half of a round trip.
	Start int64
	// Seconds is the length of the window, Ops its operations; First is those of its
	// first half.
	Seconds, FirstSeconds      float64
	Ops, First                 uint64
	Errors, Cut, Late, Backlog uint64
	Latency                    record.Histogram
	Open, Shut                 []counter.Sum // what the load adds up, at both ends
	Probes                     map[string]record.Value
	SteadyRate                 float64   // 1/s
	Ticks                      []float64 // operations of each
	// Thawing is how long it took until the load ran, Ran how long it did, and Pausing
	// how long it took then until all was frozen, or nothing in flight.
	Thawing, Ran, Pausing time.Duration
	// Self is the CPU time, between the two ends of the window, of the process of tare's
	// that cut it; they are SelfWall apart. Both are 0 where there was none.
	Self, SelfWall time.Duration
	// Neighbour is what the neighbour did in the window; nil: it did not run, or nobody
	// looked.
	Neighbour *NeighbourSample
}

// NeighbourSample is what was seen of a neighbour in a window.
type NeighbourSample struct {
	Ops    uint64
	Probes map[string]record.Value
}
