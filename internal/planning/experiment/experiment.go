// Package experiment reads what a user asks for, from YAML or a preset, changes single settings of
// it, and writes it back complete. It is pure: it never touches the machine. It knows workloads,
// parameters and arms only by the Words that its caller hands in.
package experiment

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/tarelab/tare/internal/base/hint"
)

// Experiment says what to compare, how precisely, and for how long.
type Experiment struct {
	Name, Title string
	// Budget is the time of the whole run.
	Budget time.Duration
	// Precision is the wanted half-width of an interval, Margin the smallest effect that matters.
	// Both are ratios (0.01 is 1 %).
	Precision, Margin float64
	// Seed decides the order of the arms; 0: the plan draws one and records it.
	Seed uint64
	// Volume is what is under the data directory, see Words.Volume.
	Volume string
	// Unequal says what to do with arms whose durability is not the baseline's: Refuse or Mark.
	Unequal string
	// Scratch is a directory on the file system under test; "": the default.
	Scratch string
	// Generations is the number of launches; 0: as many as fit.
	Generations int
	// Window is the length of a window, Discard its settle time; 0: the pilot chooses.
	Window, Discard time.Duration
	// Neighbours are the neighbours that arms can name.
	Neighbours []Neighbour
	// Arms are the arms of workloads that name none; empty: every rung that applies. It is empty if
	// Named is not.
	Arms []string
	// Named are arms that the experiment defines, instead of the ladder.
	Named     []ArmSpec
	Workloads []Workload
	Sizes     []Size
}

// Workload is one load with the arms under which it is compared.
type Workload struct {
	Name string // unique, fit for a file name
	Kind string // one of Words.Kinds
	// Params are complete after Parse and Set: every parameter of the kind has a value.
	Params map[string]string
	// Share is the weight of this workload in the division of the budget.
	Share float64
	// Arms replaces the experiment's choice of arms, or chooses among the named arms; the baseline
	// is always an arm. Named are arms of this workload alone.
	Arms     []string
	Named    []ArmSpec
	Baseline string
}

// Unequal is one of these words.
const (
	Refuse = "refuse"
	Mark   = "mark"
)

// These are the defaults of an experiment.
const (
	Budget    = 3 * time.Minute
	Precision = 0.01
	Margin    = 0.01
	Baseline  = "host"
	Volume    = "layer" // the arm's own root file system
)

func defaults(name string) *Experiment {
	return &Experiment{Name: name, Budget: Budget, Precision: Precision, Margin: Margin, Volume: Volume, Unequal: Refuse}
}

// Workload returns the workload of that name; nil: there is none.
func (e *Experiment) Workload(name string) *Workload {
	for i := range e.Workloads {
		if e.Workloads[i].Name == name {
			return &e.Workloads[i]
		}
	}
	return nil
}

// Select keeps the named workloads, in the order of the experiment. where is the flag that errors
// name.
func (e *Experiment) Select(where string, names []string) error {
	var ps Problems
	have := e.workloadNames()
	for i, n := range names {
		if slices.Contains(names[:i], n) {
			ps = append(ps, Problem{Where: where, Text: fmt.Sprintf("workload %q is named twice", n)})
		}
		if e.Workload(n) == nil {
			ps = append(ps, Problem{Where: where, Text: fmt.Sprintf("no workload %q%s", n, hint.DidYouMean(n, have))})
		}
	}
	if len(ps) > 0 {
		return ps
	}
	e.Sizes = nil // they are about all workloads
	e.Workloads = slices.DeleteFunc(e.Workloads, func(w Workload) bool { return !slices.Contains(names, w.Name) })
	return nil
}

func (e *Experiment) workloadNames() []string {
	var names []string
	for _, w := range e.Workloads {
		names = append(names, w.Name)
	}
	return names
}

// fileName is the name of an experiment whose file gives none.
func fileName(path string) string {
	base := path[strings.LastIndexByte(path, '/')+1:]
	base = strings.TrimSuffix(strings.TrimSuffix(base, ".yaml"), ".yml")
	if base == "" || !utf8.ValidString(base) || strings.IndexFunc(base, unicode.IsControl) >= 0 {
		return "experiment"
	}
	return base
}
