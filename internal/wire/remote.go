package wire

import (
	"context"
	"time"

	"github.com/tarelab/tare/internal/linux/storage"
	"github.com/tarelab/tare/internal/wire/counter"
	"github.com/tarelab/tare/record"
)

// Remote controls a load on another node, whose counters tare does not share. The load pauses at its
// gate; its server is not frozen, only idle.
type Remote interface {
	// Gate closes (true) or opens (false) the load's gate.
	Gate(closed bool) error
	// Pause closes the gate and returns when no operation is in flight, or soon after.
	Pause() error
	// Measure lets the load run for a window and reads its counters. An agent does all of it on the
	// load's node, so that the window does not contain a round trip.
	Measure(ctx context.Context, w WindowSpec) (Sample, error)
	// Watch reads probes and operations of the load while another load has its window. It does not
	// open the gate.
	Watch(ctx context.Context, w WindowSpec) (Sample, error)
	// Try makes a storage.Trial: it writes and syncs beside the data and returns what the devices
	// counted. It returns the facts of the volume even if the trial failed.
	Try(ctx context.Context) (storage.Trial, storage.Facts, error)
}

// WindowSpec describes what happens from a thaw to the next pause.
type WindowSpec struct {
	Seed            uint64        // of an open loop's arrivals, and of the CPUs on which threads go on
	Discard, Length time.Duration // settle time after the thaw, and then the window
	// Steady is how long the load runs on after the window, to measure Sample.SteadyRate: its rate
	// long after a thaw.
	Steady time.Duration
	// Whole says that a window of up to 100 ms is not divided into halves.
	Whole bool
	// Tick, if not 0, asks for the operations in each interval of that length: a trace.
	Tick time.Duration
	// Values is the number of values that the load adds up itself (counter.Sum).
	Values int
	// Asked says that the load itself measures for Length (counter.Ask), and Limit how much longer
	// it may take.
	Asked bool
	Limit time.Duration
	// Neighbour says that the neighbour runs in the window too.
	Neighbour bool
}

// Sample has the measurements from a thaw to the next pause.
type Sample struct {
	// Start is when the window opened, CLOCK_MONOTONIC of tare's host in ns. For a remote load it is
	// wrong by at most half of a round trip.
	Start int64
	// Seconds is the length of the window and Ops its operations; FirstSeconds and First are
	// those of its first half.
	Seconds, FirstSeconds      float64
	Ops, First                 uint64
	Errors, Cut, Late, Backlog uint64 // as in counter.Slot
	Latency                    record.Histogram
	Open, Shut                 []counter.Sum // values of the load when the window opened and when it closed
	Probes                     map[string]record.Value
	SteadyRate                 float64   // 1/s
	Ticks                      []float64 // operations of each tick
	// Thawing is how long the thaw took, Ran how long the load ran, and Pausing how long the pause
	// took.
	Thawing, Ran, Pausing time.Duration
	// Self is the CPU time that the tare process that timed the window used in it. SelfWall is the
	// wall time to which Self belongs. Both are 0 where they were not measured.
	Self, SelfWall time.Duration
	// Neighbour is the neighbour's sample; nil: it did not run or was not read.
	Neighbour *NeighbourSample
}

// NeighbourSample has the measurements of a neighbour in a window.
type NeighbourSample struct {
	Ops    uint64
	Probes map[string]record.Value
}
