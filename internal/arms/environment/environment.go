// Package environment is the contract of the places in which a load runs: the host, the host with
// layers of a container, a container, a pod. An Environment is a description and touches nothing.
// An OpenArm is an opened environment, and only open arms change the host. The package knows processes,
// volumes and addresses; it does not know workloads.
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
	// Name is the environment's word on the command line and in the record.
	Name() string
	// Title is one line for people.
	Title() record.Said
	// Support says whether this user can open the environment on this host.
	Support(facts.Host) facts.Support
	// Capabilities say which choices an experiment has.
	Capabilities() Capabilities
	// Changes lists what Open would change on the host.
	Changes(Spec) []facts.Change
	// Open makes an arm in the environment. It writes each change to the journal before it makes
	// the change, and reads every setting back. On an error it leaves no change.
	Open(ctx context.Context, spec Spec) (OpenArm, error)
}

// Keeper is an environment that can keep parts of a closed arm for the next arm of that name, if
// Spec.Keep allows it.
type Keeper interface {
	// Release undoes all changes that are kept for a run.
	Release(run string) error
}

// KeptArm is an open arm of a Keeper.
type KeptArm interface {
	// Making is how long Open took for what the next arm of that name finds kept.
	Making() time.Duration
}

// Executor is an environment that executes programs of the host to make an arm.
type Executor interface {
	// Programs are the paths of these programs, as they are found now. Missing ones are left out.
	Programs() []string
}

// Checker is an environment that can say, without a change, whether this host has what a Container names: its image
// or its AppArmor profile.
type Checker interface {
	Check(ctx context.Context, c Container) error
}

// Capabilities are the choices that an environment offers an experiment.
type Capabilities struct {
	// With returns the environment with the levels that an experiment writes after its name and
	// a colon; nil: the environment has no levels.
	With func(levels string) (Environment, error)
	// Refuses returns an error if the environment cannot have these choices; nil: it can have all.
	Refuses func(Container) error
	// Quota says that the environment has a CPU limit below all CPUs, so that throttling is
	// possible.
	Quota bool
	// Grouped says that an arm has the control groups of a container, whose limits can be chosen.
	Grouped bool
	// RunsAs returns record.Arm.RunsAs on a host with these control groups (facts.Host.Groups,
	// which may be nil); nil: an arm has the control groups of a container or pod.
	RunsAs func(*cgroup.Tree) string
	// Container says that the environment makes containers, whose network, seccomp filter and
	// capabilities can be chosen.
	Container bool
	// Networks says that the environment has a network of its own, which NetworkEngine chooses.
	Networks bool
	// Images says that the root file system can be an image that the engine has.
	Images bool
	// Archive says that the environment needs an image in a file.
	Archive bool
	// Pod says that the environment is a pod. A neighbour can be in one too.
	Pod bool
}

// OpenArm is an opened environment.
type OpenArm interface {
	// Start starts a process in the arm, not frozen. The end of ctx stops only the start; the
	// process ends by itself, by Kill or by Close.
	Start(ctx context.Context, p Process) (Running, error)
	// Place has paths, addresses, groups and freezer, as far as they are known before Start.
	Place() wire.Place
	// Settings reads the arm's settings back from the kernel. While a process runs, its settings
	// are included.
	Settings() ([]record.Setting, error)
	// Reproduction is the name and the text of a file with which a user can make the arm without
	// tare; both are empty if there is none.
	Reproduction() (name string, text []byte)
	// Close ends all processes of the arm and undoes all changes. It continues after an error and
	// may be called twice.
	Close() error
}

// Running is a process that was started in an arm.
type Running interface {
	// Pid is the pid in tare's pid namespace; 0: the process is elsewhere.
	Pid() int
	// Done is closed when the process has ended.
	Done() <-chan struct{}
	// Exit is how the process ended. Valid after Done.
	Exit() Exit
	// Kill ends the process, frozen or not, and does not wait for the end.
	Kill() error
}

// Ended says whether a process has ended. A nil process has.
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
	Err    error  // the process could not be started or waited for, or tare ended it
}

// Process describes a process to start. The program is always tare's binary, which every
// environment makes available unchanged; Args are its arguments.
type Process struct {
	Args []string
	// Env are variables in addition to those of every process, NAME=VALUE.
	Env []string
	// Files are inherited as descriptors 3, 4, ...
	Files []*os.File
	// Log receives standard output and error.
	Log *os.File
	// Outside starts the process beside the arm and not in it, for example the client of a server:
	// on the host, in the gateway namespace of the arm's network, or in a pod of its own.
	Outside bool
}

// ErrBusy means that a process runs in an arm that can have only one at a time.
var ErrBusy = errors.New("a process runs in this arm already")

// Spec describes an arm to open.
type Spec struct {
	Run string // id of the run, [a-z0-9]+
	Arm string // name of the arm, unique in the run, fit for a file name
	// Data is the prepared data set, a directory; empty when there is none.
	// Every arm gets a copy of its own (reflink where the file system can).
	Data string
	// Carried are the names of files in Data that a process beside the arm needs too.
	Carried []string
	// Scratch is a directory on the host for this run, on the file system
	// under test; the arm makes its own directories in it.
	Scratch string
	// Bind says that the data directory is bind-mounted into the arm. If false, it is in the arm's
	// root file system.
	Bind bool
	// Volume is an empty directory on the host that only this arm uses. The arm makes the data
	// directory in it, and bind-mounts it into its root file system if it has one. Empty: the data
	// directory is on the file system of Scratch.
	Volume string
	// Port is the TCP port of a server in the arm; 0 when there is none. A later launch of an
	// arm may keep the port of the first: Place says which.
	Port int
	// Keep allows the environment to keep what it made when the arm is closed. All processes end.
	// The caller calls Keeper.Release after the last arm.
	Keep bool
	// Neighbour are the limits of a neighbour; nil: the arm is no neighbour.
	Neighbour *Neighbour
	// Walled says that a server in the arm may put itself into a mount namespace, see wire.Place.
	Walled bool
	// Container has the experiment's choices for a container.
	Container Container
	// Limits are the experiment's choices for the arm's group; a zero field means the
	// environment's default.
	Limits cgroup.Limits
	// Beside are the environments of all arms that are open at the same time, including this
	// one. Pods with cpu=max or memory=max divide the node's free resources among them.
	Beside  []Environment
	Journal *journal.Journal
	// Groups is facts.Host.Groups. All arms use the same tree, so that they can make and remove
	// groups concurrently. nil: the arm detects the tree itself.
	Groups *cgroup.Tree
}

// OwnMounts are the namespaces that a process in an arm on the host may have of its own.
func (s Spec) OwnMounts() []string {
	if s.Walled {
		return []string{"mnt"}
	}
	return nil
}

// Container has the choices that an experiment can make for a container. An empty word means the
// environment's default.
type Container struct {
	Network      string // one of Networks
	Seccomp      string // one of SeccompProfiles
	Capabilities string // one of CapabilitySets
	// AppArmor is the profile: Default, Unconfined, or the name of a loaded profile.
	AppArmor string
	// Image is the image with the container's root file system; empty: the root is an overlay
	// over the host's.
	Image string
}

// The words of a Container.
const (
	NetworkHost      = "host"       // the host's network
	NetworkBridge    = "bridge"     // its own network; clients use the container's address
	NetworkPublished = "published"  // its own network; clients use a published port
	NetworkEngine    = "engine"     // the network of the engine; clients use the port that it publishes
	Default          = "default"    // the default of the runtime or engine
	Unconfined       = "unconfined" // no seccomp filter, or no AppArmor profile
	NoCapabilities   = "none"       // all capabilities dropped
)

// Networks are the words for the network of a container.
func Networks() []string {
	return []string{NetworkHost, NetworkBridge, NetworkPublished, NetworkEngine}
}

// SeccompProfiles are the words for the seccomp filter.
func SeccompProfiles() []string { return []string{Default, Unconfined} }

// CapabilitySets are the words for the capabilities.
func CapabilitySets() []string { return []string{Default, NoCapabilities} }

// Neighbour are the limits of a neighbour.
type Neighbour struct {
	// Controllers are the cgroup controllers that the isolation needs. The group always has memory
	// and pids.
	Controllers []string
	// Grouped adds the cpu controller if the host has it. The arm is a container then, whose group
	// has the controller too.
	Grouped bool
	// Service adds the controllers of the host's services. The arm is one then.
	Service bool
	Limits  cgroup.Limits // memory and pids are not 0
	// Time is the CPU time after which the kernel kills a process of the neighbour.
	Time time.Duration
}
