// Package isolation describes the mechanisms that protect an arm from its neighbour, one file per
// mechanism: the cgroup files or thread settings to write, for the arm or for the neighbour, and
// how to check that the kernel accepted them. Descriptions are data: package enforce writes the
// files. This package must not know workloads or arms.
package isolation

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/record"
)

// Mechanism is one way to protect an arm from its neighbour.
type Mechanism interface {
	Describe() description
	// Support says whether the mechanism works on this host for this user.
	Support(facts.Host) facts.Support
	// Settings returns the settings for a level; Level.Check has accepted it.
	Settings(level string, h facts.Host) (Settings, error)
}

// description names a mechanism and says which levels it takes.
type description struct {
	Name  string
	Title record.Said // one line for people
	// Level describes the text after "=", as in cpu.weight=50; the zero value: the mechanism takes
	// no level.
	Level level
}

// level is the strength of a mechanism, such as a share of the CPU.
type level struct {
	Default string
	// Check returns what is wrong with a level; nil: the mechanism takes no level.
	Check func(string) error
}

// Side says whose cgroup or threads a setting changes.
type Side int

// The sides.
const (
	Neighbour Side = iota
	Arm            // includes the arm's processes outside its container, such as a client
)

func (s Side) String() string { return [...]string{"neighbour", "arm"}[s] }

// Settings are the settings of a mechanism. They are written in this order, and undone in reverse
// order.
type Settings struct {
	// Neighbour and Arm are the cgroup controllers that each side's group needs.
	Neighbour, Arm []string
	Files          []File
	Threads        []Threads
	// Period is the kernel's period for a limited resource: one grant per period. 0: nothing is
	// limited.
	Period time.Duration
	// Live says that the settings can be written and undone while the processes are frozen. Arms
	// that differ in such settings only can share one launch.
	Live bool
}

// File is a setting in a file of a cgroup.
type File struct {
	Of         Side
	Controller string
	Name       string
	Write      string
	// Undo is the text to write at the end; empty: the text read before the change.
	Undo string
	// Competing says that the kernel compares the value with those of other groups. It is also written to the
	// group that is compared (cgroup.Group.Competing).
	Competing bool
	// Took says whether got, read back from the file, means the same as Write; nil: both must
	// have the same words.
	Took func(got string) bool
}

// Threads sets the scheduling of all threads of one side. New threads inherit it.
type Threads struct {
	Of   Side
	Turn *Turn // nil: not changed
	// CPUs are the CPUs that the threads may use; nil: not changed.
	CPUs []int
}

// Turn is a scheduling policy without real-time priority, with its nice value.
type Turn struct {
	Policy uint32 // unix.SCHED_NORMAL, SCHED_BATCH or SCHED_IDLE
	Nice   int    // -20 to 19
}

// All are all mechanisms, "none" first.
func All() []Mechanism {
	return []Mechanism{
		none{}, group{}, weight{}, idle{}, quota{}, quota{burst: true}, pinned{}, split{},
		schedPolicy{niceness: true}, schedPolicy{policy: batch}, schedPolicy{policy: idlePolicy},
		qosLevel{}, memoryMax{}, memoryHigh{}, memoryLow{}, ioWeight{}, ioMax{},
	}
}

// None is the name of the mechanism that does nothing.
const None = "none"

// names are the names of all mechanisms.
func names() []string {
	var names []string
	for _, m := range All() {
		names = append(names, m.Describe().Name)
	}
	return names
}

// Find finds a mechanism by name.
func Find(name string) (Mechanism, bool) {
	for _, m := range All() {
		if m.Describe().Name == name {
			return m, true
		}
	}
	return nil, false
}

// Parse reads "mechanism" or "mechanism=level" and checks the level.
func Parse(text string) (m Mechanism, level string, err error) {
	name, level, given := strings.Cut(text, "=")
	m, ok := Find(name)
	if !ok {
		return nil, "", fmt.Errorf("unknown isolation %q%s", name, hint.DidYouMean(name, names()))
	}
	d := m.Describe()
	switch {
	case !given:
		return m, d.Level.Default, nil
	case d.Level.Check == nil:
		return nil, "", fmt.Errorf("%s takes no level", name)
	}
	if err := d.Level.Check(level); err != nil {
		return nil, "", fmt.Errorf("%s: %w", name, err)
	}
	return m, level, nil
}

// Needs returns the cgroup controllers that all settings together need on one side.
func Needs(all []Settings, of Side) []string {
	var out []string
	for _, s := range all {
		needs := s.Neighbour
		if of == Arm {
			needs = s.Arm
		}
		for _, c := range needs {
			if !slices.Contains(out, c) {
				out = append(out, c)
			}
		}
	}
	return out
}
