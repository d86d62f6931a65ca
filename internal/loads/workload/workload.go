// Package workload defines the description of a load (Workload): its parameters, its metrics and the
// processes to start. It has the descriptions of tare's own loads and of the neighbours, one file
// each. A description is data: it starts no process and touches no file.
package workload

import (
	"fmt"
	"time"

	"github.com/tarelab/tare/internal/databases/serve"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// Workload describes one load.
type Workload interface {
	// Name is the word after kind: in an experiment file.
	Name() string
	// Title is a description of one line for people.
	Title() record.Said
	// Params are its parameters with their defaults.
	Params() []Param
	// Stages are the processes to start, for parameters that Complete has checked.
	Stages(Values) (Stages, error)
}

// Param is one parameter of a load.
type Param struct {
	Name    string
	Default string
	Help    string
	// Check returns what is wrong with a value, nil if the value is allowed.
	Check func(string) error
	// Words are the allowed values if they can be listed; nil otherwise.
	Words []string
	// Text is true if nearly any text is allowed: a command, a path.
	Text bool
}

// Values are all parameters of a load by name.
type Values map[string]string

// Stages are the processes of a load, with the disk space, memory and time that they need.
type Stages struct {
	// Threads is the number of slots in the counters.
	Threads int
	// Prepare builds the data set in a directory, once, on the host; nil if the load has none. Key
	// identifies the data set within a run.
	Prepare func(dir string) Task
	Key     string
	// Server runs in the arm; nil if the load needs none. It is ready when it accepts a TCP
	// connection at Place.Dial.
	Server func(wire.Place) Task
	// Load runs in the arm, or outside of it if there is a Server. It counts in shared memory,
	// which it inherits as descriptor 3.
	Load func(wire.Place) Task
	// Carried are the names of the data set's files that a load outside of the arm needs, such as
	// the marker and the password.
	Carried []string
	// Disk is true if the load measures durable writes: a volume that cannot sync gets a warning.
	Disk bool
	// Settle is how long all arms have to run at the same time after a launch until the rate of the
	// load is steady; 0 for a load that warms itself before it is ready, as tare's own do.
	Settle time.Duration
	// Metrics are the metrics of this load, the primary one first.
	Metrics []Metric
	// Values are the numbers that the load reports itself, in the order of counter.AddValue; at
	// most counter.MaxValues.
	Values []Metric
	// Windowed is set for a load that must be asked for each window, such as fio. It is nil if tare
	// can read the counters at any time and so chooses the window itself.
	Windowed *Windowed
	// Bytes is the disk space in bytes that the load needs in the data directory of an arm, if more
	// than the data set. Grows is the space for what it writes in addition: logs.
	Bytes, Grows int64
	// Data is an upper estimate of the disk space in bytes of the data set that Prepare makes in the cache; 0: it is not
	// known, or there is none.
	Data int64
	// Rate is an upper bound of the bytes per second that the load adds to its data, by which disk
	// space is planned.
	Rate int64
	// Cache is the size of the server's cache in bytes, see Memory.
	Cache int64
	// Together is the number of operations that a thread has in flight at the same time; 0 means 1.
	Together int
	// Needs are the server and client programs for arms that have the host's programs.
	Needs []serve.Need
	// Tools are other programs that the load needs.
	Tools []Tool
	// Executes are names or paths of further programs that the load executes.
	Executes []string
	// Code lists programs and scripts of the user that tare will execute on this host.
	Code []Code
	// SQL are the user's dump and statements, which are checked before anything starts.
	SQL []SQL
	// Named are the user's other files and programs, which are checked before anything starts too.
	Named []Named
	// UserSQL is true if a server runs SQL of the user's: that in SQL, of a script, or queries.
	UserSQL bool
	// Work is the rate by which a neighbour of this kind is measured: a key of
	// record.Window.Neighbour. The zero value means the operations that the load counts.
	Work Metric
}

// Tool is a program that has to be in PATH, with its Debian package.
type Tool struct{ Name, Package string }

// Windowed describes the windows of a load that is asked for each one, see counter.Memory.Ask.
type Windowed struct {
	// Least is the shortest sensible window, Usual the default, Discard the settle time before the
	// window.
	Least, Usual, Discard time.Duration
	// Limit is how much longer than asked a window may take: for the tool's start and end, or one
	// execution of a command.
	Limit time.Duration
}

// Task has the arguments and variables with which tare starts itself as a load.
type Task struct {
	Args []string
	// Env are additional variables, NAME=VALUE. Secrets belong here: other users can read the
	// arguments of a process, but not its environment.
	Env []string
}

// Metric is a number on which a verdict is given.
type Metric = metric.Metric

// Metrics of loads that count operations and latencies.
var (
	Throughput = metric.Throughput
	P50        = metric.P50
	P95        = metric.P95
	P99        = metric.P99
	cpuPerOp   = metric.CPUPerOp
)

// Complete fills in the defaults and checks every value. An unknown parameter is an error.
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
