// Package session measures an arm whose processes run, a window at a time: it lets
// them go, reads what they count and what the kernel counts of them, and stops them
// again. Its caller does not see whether they run here or where tare is not. It knows
// nothing of plans, of launches and of isolation.
package session

import (
	"context"
	"errors"
	"time"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/host/probe"
	"github.com/tarelab/tare/internal/linux/storage"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/internal/wire/counter"
	"github.com/tarelab/tare/record"
)

// FreezeTimeout is how long a pause may take before it counts as failed.
const FreezeTimeout = time.Second

// patience is how often a pause is tried where no window is at stake, and PatientTimeout
// how long that may take.
const (
	patience       = 10
	PatientTimeout = patience * FreezeTimeout
)

// Session is the processes of an arm and what they count. It is not for concurrent
// use.
type Session interface {
	// Settle lets the load, which waits at its gate, run for a while before the first
	// pause, until it is like one that has run for long. Where tare is, it only begins,
	// and what is left to wait is returned: several settle at the same time.
	Settle(ctx context.Context, d time.Duration) (left time.Duration, err error)
	// Observe opens the probes; those that Measure reads are closed by Close.
	Observe(probes []probe.Probe)
	// Metrics are those of the probes.
	Metrics() []probe.Metric
	// Measure lets the load, and its neighbour if the window has one, run for a window
	// and stops them again. What was seen until an error is returned with it;
	// wire.ErrNotFrozen is one of them.
	Measure(ctx context.Context, w wire.WindowSpec) (wire.Sample, error)
	// Pause stops what runs, if it is not stopped, and PausePatiently where no window is
	// at stake: a host that is overloaded for a while must not end a run.
	Pause() error
	PausePatiently() error
	// Paused says whether the last pause was confirmed, and nothing let go since.
	Paused() bool
	// Method is how it is stopped: "freezer v1", "freezer v2", "load" by the load's gate
	// here, "stream" by the load's gate elsewhere.
	Method() string
	// Facts are what the kernel says of the processes, where tare is.
	Facts() ([]record.Setting, error)
	// Data is what is under the data directory.
	Data() (Data, error)
	// Try tries what becomes of what is synced to that, and says what it is.
	Try(ctx context.Context) (storage.Trial, storage.Facts, error)
	// Close closes the probes.
	Close() error
}

// Data is what is under a data directory, as the kernel says.
type Data struct {
	storage.Facts
	Settings []record.Setting
	// Volatile is an overlay that passes no sync on.
	Volatile bool
	// Elsewhere says that tare does not see it: the arm's own settings say it.
	Elsewhere bool
}

// Processes are what a session measures. Running are the server, if there is one, and
// the load, in this order.
type Processes struct {
	Place wire.Place
	// Freezer stops all of them, the neighbour first; nil where the load is paused by its
	// gate. Alone leaves the neighbour out.
	Freezer, Alone wire.Freezer
	Memory         *counter.Memory // of the load
	Running        []environment.Running
	Neighbour      *Neighbour // nil: none
	// Ended says why one of them has ended; nil while all run.
	Ended func() error
}

// Open makes the session of processes that were started. They may change between
// windows: a neighbour that ended is none any longer.
func Open(p *Processes) Session {
	if p.Place.Remote != nil {
		return &remote{Processes: p}
	}
	return &local{Processes: p}
}

// Frozen says whether a method of pausing is the freezer's.
func Frozen(method string) bool { return method != byLoad && method != byStream }

const (
	byLoad   = "load"
	byStream = "stream"
)

// Patiently freezes where a host that is overloaded for a while must not end a run.
func Patiently(freeze func() error) (err error) {
	for range patience {
		if err = freeze(); err == nil || !errors.Is(err, wire.ErrNotFrozen) {
			return err
		}
	}
	return err
}
