// Package session measures one arm whose processes have been started, a window at a time: it thaws
// them, reads counters and probes when the window opens and closes, and pauses them again. The
// processes are on this host (type local) or on a node where tare is not (type remote); the caller
// sees no difference. The package does not know plans, launches and isolation.
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

// patience is how often PausePatiently tries, and PatientTimeout how long that may take.
const (
	patience       = 10
	PatientTimeout = patience * FreezeTimeout
)

// Session measures the processes of one arm. It is not for concurrent use.
type Session interface {
	// Settle opens the gate of the load, which runs for d before the first pause, until its
	// caches are warm. On this host it does not wait, and the caller waits for left: several
	// arms settle at the same time.
	Settle(ctx context.Context, d time.Duration) (left time.Duration, err error)
	// Observe opens the probes that Measure reads. Close closes them.
	Observe(probes []probe.Probe)
	// Metrics are those of the probes.
	Metrics() []probe.Metric
	// Measure lets the load, and the neighbour if w asks for it, run for a window and pauses
	// them again. On an error, wire.ErrNotFrozen for example, the sample is incomplete.
	Measure(ctx context.Context, w wire.WindowSpec) (wire.Sample, error)
	// Pause pauses the processes, if they are not paused.
	Pause() error
	// PausePatiently is Pause outside of windows. It tries several times: a host that is
	// overloaded for some seconds must not end a run.
	PausePatiently() error
	// Paused says whether the last pause was confirmed and nothing was thawed since.
	Paused() bool
	// Method is how the processes are paused: "freezer v1", "freezer v2", by the load's gate on
	// this host "load", by the load's gate on another node "stream".
	Method() string
	// Facts are facts of the processes from the kernel; none where tare is not on the node.
	Facts() ([]record.Setting, error)
	// Data is what is below the data directory.
	Data() (Data, error)
	// Try syncs beside the data and returns what the devices counted, with facts of the volume.
	Try(ctx context.Context) (storage.Trial, storage.Facts, error)
	// Close closes the probes.
	Close() error
}

// Data describes what is below a data directory.
type Data struct {
	storage.Facts
	Settings []record.Setting
	// Volatile says that the data is on an overlay with the option volatile, which ignores syncs.
	Volatile bool
	// Elsewhere says that tare cannot see the directory; the arm's settings describe it.
	Elsewhere bool
}

// Processes are the processes of a session.
type Processes struct {
	Place wire.Place
	// Freezer pauses all processes, the neighbour first, and Alone all but the neighbour; nil
	// where the load pauses itself at its gate.
	Freezer, Alone wire.Freezer
	Memory         *counter.Memory       // of the load
	Running        []environment.Running // the server, if there is one, then the load
	Neighbour      *Neighbour            // nil: none
	// Ended returns why a process has ended; nil while all run.
	Ended func() error
}

// Open makes the session of processes that were started. The caller may change p between windows,
// as when a neighbour has ended.
func Open(p *Processes) Session {
	if p.Place.Remote != nil {
		return &remote{Processes: p}
	}
	return &local{Processes: p}
}

// Frozen says whether a Method is a freezer's.
func Frozen(method string) bool { return method != byLoad && method != byStream }

const (
	byLoad   = "load"
	byStream = "stream"
)

// Patiently calls freeze again while it returns wire.ErrNotFrozen, for at most PatientTimeout.
func Patiently(freeze func() error) (err error) {
	for range patience {
		if err = freeze(); err == nil || !errors.Is(err, wire.ErrNotFrozen) {
			return err
		}
	}
	return err
}
