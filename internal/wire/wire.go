package wire

import (
	"time"

	"github.com/tarelab/tare/internal/linux/cgroup"
)

// ProgramPath is the PATH of every arm.
const ProgramPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Place has the paths, addresses, cgroups and controls of an arm.
type Place struct {
	// Volume is the data directory as a process in the arm sees it, HostVolume the same
	// directory as the host sees it.
	Volume, HostVolume string
	// ClientVolume is the directory, as a process beside the arm sees it, with the files of the data
	// directory that such a process needs (environment.Spec.Carried); empty: HostVolume.
	ClientVolume string
	// ClientFiles is a directory, as a process beside the arm sees it, in which it may make files of its own;
	// empty: ClientVolume, or HostVolume.
	ClientFiles string
	// Program is the server program with which the data was prepared; empty: none. It is not
	// read from Volume, where the arm's processes can write.
	Program string
	// Sandboxed says that the processes run on a kernel of their own (gVisor). On the host, Group
	// then holds the sandbox and not the arm's processes. No process on the host has the arm's root
	// directory, so probes of the volume use HostVolume.
	Sandboxed bool
	// OwnRoot says that all files that a process in the arm can change end with the arm, but those of Volume.
	OwnRoot bool
	// Walled says that a server in the arm runs a user's SQL: it may write Volume and nothing else.
	Walled bool
	// Listen is the address at which a server in the arm listens, Dial the address at which a
	// client outside reaches it: "host:port".
	Listen, Dial string
	// Group is the cgroup of the processes in the arm, OutsideGroup that of the processes beside it;
	// the zero value is no cgroup.
	Group        cgroup.Group
	OutsideGroup cgroup.Group
	// Forwarders are processes of an engine that forward the arm's port, outside of both groups.
	Forwarders []int
	// Pause freezes and thaws the processes in the arm and beside it. It is nil where tare cannot
	// freeze; there the load pauses itself at its gate.
	Pause Freezer
	// Remote controls a load on a node where tare is not; nil: tare shares the load's counters.
	// Volume is a path in the pod then, and HostVolume is empty.
	Remote Remote
}

// Freezer stops and continues processes.
type Freezer interface {
	// Freeze calls Ask and then Confirm.
	Freeze(timeout time.Duration) error
	// Ask tells the kernel to stop the processes and does not wait. A freezer that cannot
	// ask without waiting does nothing in Ask and everything in Confirm.
	Ask() error
	// Confirm waits until all processes are stopped. After the time-out it thaws them and
	// returns ErrNotFrozen.
	Confirm(timeout time.Duration) error
	Thaw() error
	// Kind is "freezer v1", "freezer v2" or "signals".
	Kind() string
}

// ErrNotFrozen means that the kernel did not confirm a freeze in time.
var ErrNotFrozen = cgroup.ErrNotFrozen
