// Package workload describes benchmarks, one file each: parameters, stages,
// metrics. A description is data. It starts no process and touches no file.
package workload

import (
	"fmt"
	"time"

	"github.com/tarelab/tare/internal/databases/serve"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/internal/wire/metric"
)

// Workload describes one benchmark.
type Workload interface {
	// Name is the catalog's word for it.
	Name() string
	// Title is one line for people.
	Title() string
	// Params are its parameters with their defaults.
	Params() []Param
	// Stages says what to start, for parameters that were checked.
	Stages(Values) (Stages, error)
}

// Param is one parameter.
type Param struct {
	Name    string
	Default string
	Help    string
	// Check returns what is wrong with a value, nil when nothing is.
	Check func(string) error
	// Words are the allowed values where there are only a few.
	Words []string
	// Text says that nearly any text is allowed: a command, a path.
	Text bool
}

// Values are the parameters by name, complete.
type Values map[string]string

// Stages is what a benchmark consists of.
type Stages struct {
	// Threads is the number of counting slots.
	Threads int
	// Prepare builds the data set in a directory, once, on the host; nil when
	// there is none. Key tells data sets apart in the cache.
	Prepare func(dir string) Task
	Key     string
	// Server runs in the arm; nil when the load needs none. It is ready when
	// Dial answers a TCP connection.
	Server func(wire.Place) Task
	// Load runs in the arm, or outside of it when there is a Server. It counts
	// in the shared memory that it inherits as descriptor 3.
	Load func(wire.Place) Task
	// Carried are the files of the data set that a load outside of the arm needs,
	// by name: its marker, the password.
	Carried []string
	// Disk says that the load is about durable writes: a volume that cannot
	// sync is worth a warning.
	Disk bool
	// Settle is how long a fresh launch needs before it is like a long run.
	Settle time.Duration
	// Metrics that mean something for this load, primary first.
	Metrics []Metric
	// Values are the numbers that the load adds up itself, in the order of
	// counter.AddValue; at most counter.MaxValues.
	Values []Metric
	// Windowed says how a load is asked for windows whose tool cannot be cut at
	// any instant; nil: it can, by its counters.
	Windowed *Windowed
	// Bytes is the least room in the data directory of an arm that the load
	// needs, if more than the data set has, and Grows is what it writes beside
	// that: logs.
	Bytes, Grows int64
	// Rate is how many bytes a second the load adds to its data while it runs, at most
	// about: what room is planned by.
	Rate int64
	// Cache is the size of the server's own cache in bytes, see Memory.
	Cache int64
	// Together is how many operations a thread has in flight at the same time; 0: one.
	Together int
	// Needs are the server and the client of the load, for arms with this host's programs.
	Needs []serve.Need
	// Tools are programs that the load cannot do without.
	Tools []Tool
	// Code is what the user gives to be executed on this host.
	Code []Code
	// Work is what a neighbour of this kind is measured by, as a rate: one of the
	// keys of record.Window.Neighbour. The zero value is the operations that it
	// counts.
	Work Metric
}

// Tool is a program that has to be in PATH, and the package of Debian that has
// it.
type Tool struct{ Name, Package string }

// Windowed are the windows of a load that is asked for each, see
// counter.Memory.Ask.
type Windowed struct {
	// Least is the shortest window that means something, Usual what is taken
	// where nobody says otherwise, Discard what runs before it.
	Least, Usual, Discard time.Duration
	// Exact says that the tool measures for as long as it was asked to, and not
	// until it has finished what it was doing.
	Exact bool
	// Limit is how much longer than asked for a window may take: the tool's
	// start and end, and for a command one execution.
	Limit time.Duration
}

// Task is what this binary is started with.
type Task struct {
	Args []string
	// Env are variables beside the usual ones, NAME=VALUE: others cannot read them, as
	// they can arguments.
	Env []string
}

// Metric is one of the numbers a verdict is given on.
type Metric = metric.Metric

// The metrics of loads that count operations and latencies.
var (
	Throughput = metric.Throughput
	P50        = metric.P50
	P95        = metric.P95
	P99        = metric.P99
	CPUPerOp   = metric.CPUPerOp
)

// Complete fills in the defaults and checks every value. A parameter that the
// workload does not have is an error.
func Complete(w Workload, given map[string]string) (Values, error) {
	v := Values{}
	for _, p := range w.Params() {
		v[p.Name] = p.Default
		if s, ok := given[p.Name]; ok {
			v[p.Name] = s
		}
		if p.Check == nil {
			continue
		}
		if err := p.Check(v[p.Name]); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", w.Name(), p.Name, err)
		}
	}
	for name := range given {
		if _, ok := v[name]; !ok {
			return nil, fmt.Errorf("%s: no parameter %q", w.Name(), name)
		}
	}
	return v, nil
}
