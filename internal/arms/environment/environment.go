// Package environment is the contract of the places in which a load runs: the
// host, layers of a container on top of it, a real container. An Environment
// is a description and touches nothing; an Arm is an environment that was
// opened, and the only thing that changes the host. The package knows
// processes, volumes and addresses, and nothing of workloads.
package environment

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/record"
)

// Environment describes a place to run in.
type Environment interface {
	// Name is the word for it on the command line and in the record.
	Name() string
	// Title is one line for people.
	Title() string
	// Support says whether this host and user can have it.
	Support(Host) Support
	// Capabilities say what can be chosen of it.
	Capabilities() Capabilities
	// Changes lists what Open would change on the host.
	Changes(Spec) []Change
	// Open makes it. Every change is in the journal before it is made, and
	// every setting is read back. On error nothing is left.
	Open(ctx context.Context, spec Spec) (Arm, error)
}

// Capabilities are what an environment lets an experiment choose of it.
type Capabilities struct {
	// With is the same environment with levels of its own, which an experiment writes
	// behind its name and a colon, or what is wrong with them; nil: it has none.
	With func(levels string) (Environment, error)
	// Refuses says what it cannot have of what is chosen of a container, and why; nil:
	// it can have all.
	Refuses func(Container) error
	// Quota says that it has a CPU quota that can bind: of less than all CPUs.
	Quota bool
}

// Arm is an opened environment.
type Arm interface {
	// Start runs a process in it, not yet frozen. ctx bounds the start and not
	// the process, which ends by itself, by Kill or by Close.
	Start(ctx context.Context, p Process) (Running, error)
	// Place says where things are, as far as that is known before a Start.
	Place() Place
	// Settings are read back from the kernel now; what needs a live process is
	// there only after Start.
	Settings() ([]record.Setting, error)
	// Reproduction is the name and the text of a file that makes it again by hand; "",
	// where there is no such thing.
	Reproduction() (name string, text []byte)
	// Close ends every process in it and takes back every change. It may be
	// called twice and goes on after an error.
	Close() error
}

// Running is a process that was started in an arm.
type Running interface {
	// Pid is the process as the host's root namespace numbers it.
	Pid() int
	// Done is closed when the process has ended.
	Done() <-chan struct{}
	// Exit is how it ended; valid after Done.
	Exit() Exit
	// Kill ends it, frozen or not, and returns without waiting.
	Kill() error
}

// Ended says whether a process has ended; nil has.
func Ended(r Running) bool {
	if r == nil {
		return true
	}
	select {
	case <-r.Done():
		return true
	default:
		return false
	}
}

// Exit is how a process ended.
type Exit struct {
	Code   int    // exit code; -1 when a signal ended it
	Signal string // name of the signal that ended it, SIGKILL for example
	OOM    bool   // the kernel's out-of-memory killer ended it
	Err    error  // what is not the process's own doing: it could not be started or waited for
}

// Process is what to start. Tare is started as itself: Args are the arguments
// of this very binary, which every environment makes available unchanged.
type Process struct {
	Args []string
	// Env are variables beside the usual ones, NAME=VALUE.
	Env []string
	// Files are inherited as descriptors 3, 4, ...
	Files []*os.File
	// Log receives standard output and error.
	Log *os.File
	// Outside runs the process beside the arm instead of in it (the client of
	// a server): on the host, or in the network namespace that stands in for
	// the host's side of the arm's network.
	Outside bool
}

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

// ErrBusy means that an arm that holds one process at a time has one.
var ErrBusy = errors.New("a process runs in this arm already")

// Spec is what an arm is made for.
type Spec struct {
	Run string // id of the run, [a-z0-9]+
	Arm string // name of the arm, unique in the run, fit for a file name
	// Data is the prepared data set, a directory; empty when there is none.
	// Every arm gets a copy of its own (reflink where the file system can).
	Data string
	// Carried are files of Data, by name, that a process beside the arm needs too.
	Carried []string
	// Scratch is a directory on the host for this run, on the file system
	// under test; the arm makes its own directories in it.
	Scratch string
	// Bind says that the data directory is bind-mounted into the arm instead
	// of being in its own root file system.
	Bind bool
	// Volume is a directory on the host, empty and this arm's alone, in which its
	// data directory is made; an arm with a root file system of its own has it
	// bound. Empty: the data directory is on the file system of Scratch.
	Volume string
	// Port is the TCP port of a server in the arm; 0 when there is none.
	Port int
	// Neighbour says that what runs in the arm is a neighbour of another one, in these
	// bounds; nil: it is not.
	Neighbour *Neighbour
	// Container is how a container is made, where that is a factor.
	Container Container
	// Limits are what was chosen for the arm's group; zero fields are as the
	// environment has them.
	Limits cgroup.Limits
	// Beside are the environments of all arms that are open at the same time, this
	// one's among them: what one of them takes the others cannot have.
	Beside  []Environment
	Journal *journal.Journal
	// Groups is the tree of Host: one tree for all arms, so that groups can be
	// made and removed at the same time. nil: the arm detects its own.
	Groups *cgroup.Tree
}

// Container is what can be chosen of a container; an empty word leaves it as the
// environment has it by default.
type Container struct {
	Network      string // one of Networks
	Seccomp      string // one of SeccompProfiles
	Capabilities string // one of CapabilitySets
	// AppArmor is the security profile: Default, Unconfined or the name of one that
	// is loaded, as the runtime takes it.
	AppArmor string
	// Image is the name of an image that the engine has: the container's root is
	// that, instead of the host's.
	Image string
}

// The words of a Container.
const (
	// NetworkHost is the host's network; NetworkBridge an own one, reached at the
	// container's address; NetworkPublished the same at a published port.
	NetworkHost      = "host"
	NetworkBridge    = "bridge"
	NetworkPublished = "published"
	// Default is what the engine does unless it is told otherwise.
	Default = "default"
	// Unconfined is no filter.
	Unconfined = "unconfined"
	// NoCapabilities takes every one away.
	NoCapabilities = "none"
)

// Networks are the words for the network of a container.
func Networks() []string { return []string{NetworkHost, NetworkBridge, NetworkPublished} }

// SeccompProfiles are the words for its filter.
func SeccompProfiles() []string { return []string{Default, Unconfined} }

// CapabilitySets are the words for its capabilities.
func CapabilitySets() []string { return []string{Default, NoCapabilities} }

// Neighbour is what a neighbour may use.
type Neighbour struct {
	// Controllers that its isolation needs beside those of memory and pids, which it
	// always has.
	Controllers []string
	// Grouped says that it is beside a container: its group has the cpu controller too,
	// where there is one.
	Grouped bool
	Limits  cgroup.Limits // memory and pids are not 0
	// Time is the CPU time after which the kernel ends a process of it.
	Time time.Duration
}

// Change is one change of the host, for people.
type Change struct {
	What   string // "cgroup /sys/fs/cgroup/cpu/tare-…/…"
	Detail string
}

// Answer is three-valued.
type Answer int

// The answers. The zero value is: could not tell.
const (
	Unknown Answer = iota
	Yes
	No
)

// Support is whether something is possible here, why not, and what to do.
type Support struct {
	Answer Answer
	Reason string
	Remedy string
}

// ErrUnsupported is wrapped by every error that means: this host or user
// cannot have it.
var ErrUnsupported = errors.New("not supported here")

// Supported is the plain yes.
func Supported() Support { return Support{Answer: Yes} }

// Unsupported is a no with its reason and remedy. A reason that is the text of an error says
// no more than once that it is about this host.
func Unsupported(reason, remedy string) Support {
	return Support{Answer: No, Reason: strings.TrimPrefix(reason, ErrUnsupported.Error()+": "), Remedy: remedy}
}

// Host is what this host and user can do, found once per run.
type Host struct {
	Root      bool
	Groups    *cgroup.Tree // nil when no group can be made
	GroupsWhy string       // why Groups is nil
	// GroupsRemedy is what to do about it.
	GroupsRemedy string
	Freezer      string // "freezer v2", "freezer v1" or ""
	FreezeWhy    string // why Freezer is ""
	// Features by name, see the Feature constants.
	Features map[string]Support
	// Tools found in PATH, by name: absolute path and version line.
	Tools map[string]Tool
	// Control is what control groups and the like offer beside limits.
	Control Control
	// Volumes are the answers about the volumes of the experiment, by their words.
	Volumes map[string]Support
	// PodNode is the node of the pods of the experiment, where that is not this host;
	// empty: it is, or there are none.
	PodNode string
}

// Tool is a program found on this host.
type Tool struct{ Path, Version string }
