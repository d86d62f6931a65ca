package wire

import (
	"time"

	"github.com/tarelab/tare/internal/linux/cgroup"
)

// Place is where things are in an arm.
type Place struct {
	// Volume is the data directory as a process in the arm sees it, and
	// HostVolume the same directory as the host sees it.
	Volume, HostVolume string
	// ClientVolume is a directory with Spec.Carried as a process beside the arm sees
	// it; empty: HostVolume.
	ClientVolume string
	// Program is the server's that the data was prepared with; empty: there is none. It
	// is not read out of Volume, in which others may write.
	Program string
	// Sandboxed says that a kernel of its own (gVisor) stands between the processes and
	// this host, which sees that kernel in Group and nothing behind it: no process has the
	// arm's root, and HostVolume is what there is of the volume.
	Sandboxed bool
	// Listen is the address at which a server in the arm listens and Dial the
	// one at which a client outside reaches it: "host:port".
	Listen, Dial string
	// Group holds the processes in the arm; its zero value has no group.
	Group cgroup.Group
	// OutsideGroup holds the processes beside the arm, likewise.
	OutsideGroup cgroup.Group
	// Pause freezes and thaws all processes of the arm and those beside it; nil where
	// freezing is not possible and the load is paused by its gate.
	Pause Freezer
	// Remote controls the load where tare is not; nil: it counts in memory that tare
	// shares. Volume is a path there then, and HostVolume is empty.
	Remote Remote
}

// Freezer stops and continues processes. Freeze returns when the kernel has
// confirmed that all are stopped, or with ErrNotFrozen after the time-out.
type Freezer interface {
	Freeze(timeout time.Duration) error
	Thaw() error
	// Kind is "freezer v1" or "freezer v2".
	Kind() string
}

// ErrNotFrozen means that the kernel did not confirm a freeze in time.
var ErrNotFrozen = cgroup.ErrNotFrozen
