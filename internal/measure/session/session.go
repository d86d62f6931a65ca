// Package session measures one arm, one window at a time, once its processes run: it thaws them, reads
// counters and probes when the window opens and closes, and pauses them again. The processes are on
// this host (type local) or on another node, where an agent measures (type remote); the interface is
// the same. The package does not know plans, launches and isolation.
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

// pauseTries is the number of tries of PausePatiently, PatientTimeout their longest total time.
const (
	pauseTries     = 10
	PatientTimeout = pauseTries * FreezeTimeout
)

// Session measures the processes of one arm. It is not for concurrent use.
type Session interface {
	// Settle opens the gate of the load, so that the load runs for d before the first pause and
	// warms its caches. On this host it does not wait: the caller waits for left, so that several
	// arms settle at the same time.
	Settle(ctx context.Context, d time.Duration) (left time.Duration, err error)
	// Observe opens the probes that Measure reads. Close closes them.
	Observe(probes []probe.Probe)
	// Metrics returns the metrics of the probes.
	Metrics() []probe.Metric
	// Measure thaws the load, and the neighbour if w asks for it, measures a window and pauses
	// them again. The sample is incomplete if there is an error, such as wire.ErrNotFrozen.
	Measure(ctx context.Context, w wire.WindowSpec) (wire.Sample, error)
	// Pause pauses the processes, if they are not paused.
	Pause() error
	// PausePatiently is Pause outside of windows. It tries several times: a host that is
	// overloaded for some seconds must not end a run.
	PausePatiently() error
	// Paused says whether the last pause was confirmed and nothing was thawed since.
	Paused() bool
	// Method says how the processes are paused: "freezer v1", "freezer v2", "load" (the load's
	// gate on this host) or "stream" (the load's gate on another node).
	Method() string
	// Facts returns settings of the processes as the kernel shows them; none on another node.
	Facts() ([]record.Setting, error)
	// Data returns mount, devices and settings of the data directory.
	Data() (Data, error)
	// Try writes and syncs a file beside the data. It returns which writes and flushes the devices
	// counted, and the facts of the volume.
	Try(ctx context.Context) (storage.Trial, storage.Facts, error)
	// DrawPlacement lets every thaw from now on draw, from WindowSpec.Seed, the CPU on which each thread goes on; it fails
	// where tare may not or cannot. KeepPlacement ends that.
	DrawPlacement() error
	KeepPlacement() error
	// Close closes the probes and ends DrawPlacement.
	Close() error
}

// Data describes the storage of a data directory.
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
	// Freezer pauses all processes, the neighbour first; Alone pauses all but the neighbour. Both
	// are nil if the load pauses itself at its gate.
	Freezer, Alone wire.Freezer
	Memory         *counter.Memory       // of the load
	Running        []environment.Running // the server, if there is one, then the load
	Neighbour      *Neighbour            // nil: none
	// Ended returns why a process has ended; nil while all run.
	Ended func() error
}

// Open makes the session of running processes. The caller may change p between windows, for example
// when a neighbour has ended.
func Open(p *Processes) Session {
	if p.Place.Remote != nil {
		return &remote{Processes: p}
	}
	return &local{Processes: p}
}

// Frozen says whether a Method pauses by a freezer.
func Frozen(method string) bool { return method != byLoad && method != byStream }

const (
	byLoad   = "load"
	byStream = "stream"
)

// Patiently calls freeze up to ten times, until it no longer returns wire.ErrNotFrozen.
func Patiently(freeze func() error) (err error) {
	for range pauseTries {
		if err = freeze(); err == nil || !errors.Is(err, wire.ErrNotFrozen) {
			return err
		}
	}
	return err
}
