// Package isolation describes what protects an arm from its neighbour, one file per mechanism:
// which control files or thread settings to write, on which side, and how to tell that the
// kernel accepted them. A description is data: package enforce writes the files. This package
// must not know workloads or arms.
package isolation

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/host/facts"
)

// Mechanism is one way to protect an arm from its neighbour.
type Mechanism interface {
	Describe() Description
	// Support says whether this host and user can have it.
	Support(facts.Host) facts.Support
	// Settings are the settings for a level that Check accepted.
	Settings(level string, h facts.Host) (Settings, error)
}

// Description is the name of a mechanism and the level that it takes.
type Description struct {
	Name  string
	Title string // one line for people
	// Level is what may follow the name and "="; the zero value: nothing may.
	Level Level
}

// Level is the strength of a mechanism, such as a share of the CPU.
type Level struct {
	Default, Help string
	// Check returns what is wrong with a level; nil: the mechanism takes no level.
	Check func(string) error
}

// Side is the side whose group or threads are changed.
type Side int

// The sides.
const (
	Neighbour Side = iota
	Arm            // with the processes of the arm that run outside its container
)

func (s Side) String() string { return [...]string{"neighbour", "arm"}[s] }

// Settings are the settings of a mechanism, in the order in which they are made. They are taken
// back in reverse order.
type Settings struct {
	// Neighbour and Arm are the controllers that the groups of each side need.
	Neighbour, Arm []string
	Files          []File
	Threads        []Threads
	// Period is the kernel's period for a limited resource: one grant per period. 0: nothing is
	// limited.
	Period time.Duration
	// Live says that the settings can be made and taken back on frozen processes. Arms that
	// differ only in these settings then need no launch between them.
	Live bool
}

// File is a setting in a control file of a group.
type File struct {
	Of         Side
	Controller string
	Name       string
	Write      string
	// Undo is the text that takes the setting back; empty: the text that was read before.
	Undo string
	// Took says whether the text that the kernel reads back means what was written; nil: the
	// two must be the same words.
	Took func(got string) bool
}

// Threads is the scheduling of all threads of one side. Threads that these start inherit it.
type Threads struct {
	Of   Side
	Turn *Turn // nil: not changed
	// CPUs are the CPUs that the threads may use; nil: not changed.
	CPUs []int
}

// Turn is a scheduling policy for ordinary threads.
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

// Names are the names of all mechanisms.
func Names() []string {
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
		return nil, "", fmt.Errorf("unknown isolation %q%s", name, hint.DidYouMean(name, Names()))
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

// Needs are the controllers that settings need on one side.
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
