// Package isolation describes what protects an arm from its neighbour, one
// file per mechanism: what to set on whose control group or threads, and how
// to tell that it took. A description is data: it writes no file, package
// enforce does. It must not know workloads or arms.
package isolation

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/host/facts"
)

// Mechanism is one way to protect an arm.
type Mechanism interface {
	Describe() Description
	// Support says whether this host and user can have it.
	Support(facts.Host) facts.Support
	// Settings is what it sets, for a level that was checked.
	Settings(level string, h facts.Host) (Settings, error)
}

// Description is what a mechanism is called and takes.
type Description struct {
	Name  string
	Title string // one line for people
	// Level is what may follow the name and "="; the zero value is none.
	Level Level
}

// Level is the strength of a mechanism.
type Level struct {
	Default, Help string
	// Check returns what is wrong with a level; nil: the mechanism takes none.
	Check func(string) error
}

// Side is whose group or threads.
type Side int

// The sides.
const (
	Neighbour Side = iota
	Arm            // with what runs beside it
)

func (s Side) String() string { return [...]string{"neighbour", "arm"}[s] }

// Settings is what a mechanism sets, in order; it is taken back in the
// opposite order.
type Settings struct {
	// Neighbour and Arm are the controllers that their groups need.
	Neighbour, Arm []string
	Files          []File
	Threads        []Threads
	// Period is that by which the kernel grants what is bounded; zero: nothing is.
	Period time.Duration
	// Live says that it may be set and taken back while the processes live and
	// are frozen: arms that differ in nothing else need no launch between them.
	Live bool
}

// File is a control file of a group.
type File struct {
	Of         Side
	Controller string
	Name       string
	Write      string
	// Undo is what takes it back; empty: what was read before.
	Undo string
	// Took says whether what the kernel reads back is what was wanted; nil: the
	// same words.
	Took func(got string) bool
}

// Threads is how the threads of one side are scheduled. Those that they start
// inherit it.
type Threads struct {
	Of   Side
	Turn *Turn // nil: left as it is
	// CPUs they may use; nil: left as they are.
	CPUs []int
}

// Turn is a policy of the scheduler for ordinary threads.
type Turn struct {
	Policy uint32 // unix.SCHED_NORMAL, SCHED_BATCH or SCHED_IDLE
	Nice   int    // -20 to 19
}

// All is every mechanism there is, "none" first.
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

// Needs are the controllers that several settings need of one side.
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
