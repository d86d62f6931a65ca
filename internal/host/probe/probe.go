// Package probe observes the kernel during a window: one file per kind of
// observation. A probe reads cumulative counters when the window opens and
// when it closes; the value is the difference. Probes act on nothing. What
// cannot be read is a reason, never zero. The package knows files of the kernel
// and what their numbers mean, and nothing of loads, windows or statistics.
package probe

import (
	"cmp"
	"errors"

	"github.com/tarelab/tare/internal/linux/cgroup"
)

// Kind is how a metric becomes a value.
type Kind int

// The kinds.
const (
	Counter Kind = iota // cumulative: the value is the difference over the window
	Level               // the reading at the end of the window
)

// Metric describes one number that a probe yields.
type Metric struct {
	Name string // "cpu.throttled", unique in the catalog
	Unit string // "s", "1" (count), "B" or "ratio"
	Kind Kind
	Help string
	// PerOp says that the metric is shown per operation, else per second.
	PerOp bool
	// Of names the metric of which it is shown per unit: seconds per request.
	Of string
	// Rounded is by how much a reading may be off for each unit of Of since the kernel began
	// to count, where it shows a rounded mean; 0: it is exact.
	Rounded float64
}

// Probe is one kind of observation.
type Probe interface {
	Name() string
	Metrics() []Metric
	// Open gets ready to read a target; the error is the reason for every
	// value of the probe.
	Open(Target) (Reader, error)
}

// Reader holds what it needs open. Read appends one reading per metric, in
// the order of Metrics; a metric that cannot be read now is NaN. It allocates
// nothing after the first call, unless processes or threads have come since.
type Reader interface {
	Read(dst []float64) []float64
	// Reason says why metric i was NaN the last time that it was.
	Reason(i int) string
	Close() error
}

// Target is what is observed: an arm.
type Target struct {
	// Root is "/" outside tests: below it are proc and sys.
	Root string
	// Group is the arm's group; its zero value has no group.
	Group cgroup.Group
	// Outside holds the processes of the arm that run beside it (the client of
	// a server), likewise. They are of the arm and not foreign.
	Outside cgroup.Group
	// Neighbour holds what makes noise beside the arm, likewise: not of the arm,
	// and not foreign either.
	Neighbour cgroup.Group
	// Pids are the processes of the arm as the host sees them, those outside
	// too. When nil they are read from the groups, at every reading.
	Pids []int
	// Data is the directory of the arm's data as this host sees it; empty where it is
	// not known.
	Data string
	// Host says that what can only be observed of the whole host (foreign CPU,
	// steal, disks) is wanted too. All arms but this one are expected to be
	// frozen, so that what the host does is this arm's and strangers' doing.
	Host bool
	// NotHost is why it is not to be had; empty: it is not wanted.
	NotHost string
}

// notHost is why what only the whole host shows is missing.
func (t Target) notHost() error {
	return errors.New(cmp.Or(t.NotHost, "only the whole host shows it, which is not observed here"))
}

// All is every probe there is. CPU time, the arm's and the host's, stands first: it
// is read next to the window on both sides, see Set.ReadBack.
func All() []Probe {
	return []Probe{
		cpuTime{}, host{}, hardware{}, throttling{}, runQueue{}, switches{}, pressure{}, faults{}, memory{},
		blockIO{}, disks{}, device{}, network{}, retransmits{}, nfsMount{}, cephClient{getxattr}, self{},
	}
}
