// Package experiment is what the user asks for: an experiment read from YAML
// or from a preset, changed by single settings, and written back complete. It
// is pure. It must not touch the machine, and it knows the vocabulary
// (workloads, parameters, arms) only as the Words that it is given.
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

// Experiment says what to compare, how precisely, for how long.
type Experiment struct {
	Name, Title string
	// Budget is the time of the whole run.
	Budget time.Duration
	// Precision is the wanted half-width of an interval and Margin the smallest
	// effect that matters; both are ratios (0.01 is 1 %).
	Precision, Margin float64
	// Seed orders the arms; 0 means that one is chosen and recorded.
	Seed uint64
	// Volume is what is under the data directory, see Words.Volume.
	Volume string
	// Unequal is what becomes of arms that are not as durable as the baseline, or
	// more: Refuse or Mark.
	Unequal string
	// Scratch is the directory on the file system under test; "" is the default.
	Scratch string
	// Generations is the number of launches; 0 is as many as it takes.
	Generations int
	// Window and Discard are chosen by the pilot when 0.
	Window, Discard time.Duration
	// Neighbours are those that arms can name.
	Neighbours []Neighbour
	// Arms are the arms of workloads that name none; empty: every arm that
	// applies. With Named it is empty.
	Arms []string
	// Named are arms that the experiment makes itself, instead of the ladder.
	Named     []ArmSpec
	Workloads []Workload
	Sizes     []Size
}

// Workload is one load with the arms under which it is compared.
type Workload struct {
	Name string // unique, fit for a file name
	Kind string // one of Words.Kinds
	// Params are complete once they come from Parse or Set: every parameter of
	// the kind has a value.
	Params map[string]string
	// Share is the weight of this workload in the division of the budget.
	Share float64
	// Arms override those of the experiment, or choose among the named ones; the
	// baseline is always an arm. Named are arms of this workload alone.
	Arms     []string
	Named    []ArmSpec
	Baseline string
}

// What becomes of arms that are not equal in what they keep.
const (
	Refuse = "refuse"
	Mark   = "mark"
)

// Defaults of an experiment.
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

// Workload returns the workload of that name, nil when there is none.
func (e *Experiment) Workload(name string) *Workload {
	for i := range e.Workloads {
		if e.Workloads[i].Name == name {
			return &e.Workloads[i]
		}
	}
	return nil
}

// Select keeps the named workloads, in the order of the experiment, on behalf
// of where: the flag that stands in the errors.
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

// fileName is the experiment's name when the file gives none.
func fileName(path string) string {
	base := path[strings.LastIndexByte(path, '/')+1:]
	base = strings.TrimSuffix(strings.TrimSuffix(base, ".yaml"), ".yml")
	if base == "" || !utf8.ValidString(base) || strings.IndexFunc(base, unicode.IsControl) >= 0 {
		return "experiment"
	}
	return base
}
