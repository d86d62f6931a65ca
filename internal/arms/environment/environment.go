// Package environment is the contract of the places in which a load runs: the
// host, layers of a container on top of it, a real container. An Environment
// is a description and touches nothing; an OpenArm is an environment that was
// opened, and the only thing that changes the host. The package knows
// processes, volumes and addresses, and nothing of workloads.
package environment

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/record"
)

// Environment describes a place to run in.
type Environment interface {
	// Name is the word for it on the command line and in the record.
	Name() string
	// Title is one line for people.
	Title() string
	// Support says whether this host and user can have it.
	Support(facts.Host) facts.Support
	// Capabilities say what can be chosen of it.
	Capabilities() Capabilities
	// Changes lists what Open would change on the host.
	Changes(Spec) []facts.Change
	// Open makes it. Every change is in the journal before it is made, and
	// every setting is read back. On error nothing is left.
	Open(ctx context.Context, spec Spec) (OpenArm, error)
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
	// Grouped says that an arm has control groups with controllers of its own.
	Grouped bool
	// Container says that it makes containers, whose network, filter and capabilities can be
	// chosen.
	Container bool
	// Images says that it can take its root from an image of the engine's, Archive that it needs
	// an image, which is a file.
	Images, Archive bool
	// Pod says that it is a pod: a neighbour can be in one too.
	Pod bool
}

// OpenArm is an opened environment.
type OpenArm interface {
	// Start runs a process in it, not yet frozen. ctx bounds the start and not
	// the process, which ends by itself, by Kill or by Close.
	Start(ctx context.Context, p Process) (Running, error)
	// Place says where things are, as far as that is known before a Start.
	Place() wire.Place
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
