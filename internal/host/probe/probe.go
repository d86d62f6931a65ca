// Package probe observes the kernel during a window: one file per kind of
// observation. A probe reads cumulative counters when the window opens and
// when it closes; the value is the difference. Probes change nothing. A number that
// cannot be read is missing with a reason, never zero. The package knows files of the
// kernel and what their numbers mean, and nothing of loads, windows or statistics.
//
// To add a probe: a file with a Probe, what its metrics are in words.go, and one line in All.
package probe

import (
	"cmp"

	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/sched"
	"github.com/tarelab/tare/record"
)

// Kind says how two readings of a metric become a value.
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
	// PerOp says that reports show the value per operation; false: per second.
	PerOp bool
	// Of names the metric by which reports divide the value, such as the number of requests for
	// seconds per request. Empty: none.
	Of string
	// Rounded is the rounding error of a reading, in Unit, for each unit of Of since the kernel
	// began to count. It is not 0 if the kernel shows a rounded mean; 0: readings are exact.
	Rounded float64
}

// Probe is one kind of observation.
type Probe interface {
	Name() string
	Metrics() []Metric
	// Open opens the probe for a target; the error is the reason why all its values are
	// missing.
	Open(Target) (Reader, error)
}

// Reader is an open probe.
type Reader interface {
	// Read appends one number per metric, in the order of Metrics; NaN: it cannot be read
	// now. It allocates nothing after the first call unless processes or threads were started
	// since.
	Read(dst []float64) []float64
	// Reason says why metric i was NaN when it last was.
	Reason(i int) record.Said
	Close() error

	// atEdge appends the readings that sched.MarkedSleep makes exactly when a window opens or closes. Their results take the
	// place of the numbers of Read; a reader with noEdges appends none. Set calls it for its first probe only.
	atEdge(to []sched.Reading) []sched.Reading
	// moveTo replaces numbers, which Read returned near an edge, by the numbers at the edge. For
	// the opening they come from the last Read before atEdge, for the closing from the last Read.
	// got is what atEdge appended, with results.
	moveTo(e sched.Edge, numbers []float64, got []sched.Reading)
}

// noEdges is embedded in a Reader whose numbers cannot be read at the edges of a window: there only
// files and clocks can be read.
type noEdges struct{}

func (noEdges) atEdge(to []sched.Reading) []sched.Reading     { return to }
func (noEdges) moveTo(sched.Edge, []float64, []sched.Reading) {}

// Target is the arm that is observed.
type Target struct {
	// Root is "/" outside tests; proc and sys are below it.
	Root string
	// Group is the arm's control group; the zero value: it has none.
	Group cgroup.Group
	// Outside is the group of the arm's processes that run outside its container, such as the
	// client of a server; the zero value: none. Their CPU time is not foreign.
	Outside cgroup.Group
	// Neighbour is the group of the neighbour; the zero value: none. Its CPU time counts neither
	// for the arm nor as foreign.
	Neighbour cgroup.Group
	// Pids are the arm's processes, those outside included, in the host's pid namespace. nil:
	// they are read from the groups at every reading.
	Pids []int
	// Forwarders are processes outside of all groups that forward the arm's network. Their CPU time
	// is not foreign, and not the arm's.
	Forwarders []int
	// Data is the host's path of the arm's data directory; empty: not known.
	Data string
	// Host says that numbers of the whole host (foreign CPU time, steal, disks) are wanted
	// too. All other arms are expected to be frozen, so that what the host does is this arm's
	// work or that of foreign processes.
	Host bool
	// NotHost is why the numbers of the whole host are missing; nothing: they are not wanted.
	NotHost record.Said
}

// notHost is the error of a probe that observes the whole host.
func (t Target) notHost() error {
	return unread{cmp.Or(t.NotHost, ofWholeHost)}
}

// All are all probes. CPU time, the arm's and the host's, comes first: Set reads the first
// probe closest to the window on both sides.
func All() []Probe {
	return []Probe{
		cpuTime{}, host{}, hardware{}, throttling{}, runQueue{}, switches{}, pressure{}, faults{}, memory{},
		blockIO{}, disks{}, device{}, network{}, retransmits{}, nfsMount{}, cephClient{getxattr}, self{},
	}
}
