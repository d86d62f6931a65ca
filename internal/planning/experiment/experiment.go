// Package experiment reads an experiment from YAML or from a preset, changes single settings,
// and writes the complete experiment back. It is pure: it must not touch the machine. The
// vocabulary (workloads, parameters, environments) is handed in as Words.
package experiment

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/record"
)

// Experiment says what to compare, how precisely, for how long.
type Experiment struct {
	Name, Title string
	// Budget is the time of the whole run.
	Budget time.Duration
	// Precision is the wanted half-width of an interval, Margin the smallest effect that
	// matters. Both are ratios (0.01 is 1 %).
	Precision, Margin float64
	// Limits are the largest costs that the user accepts. UntilDecided: the run may stop when every limit is
	// decided; else when its intervals have the precision.
	Limits       []record.Limit
	UntilDecided bool
	// Seed is the seed of the order of the arms; 0: plan.Build chooses one and records it.
	Seed uint64
	// Volume is the word of the volume under the data directory, see Words.Volume.
	Volume string
	// Unequal says what happens to arms that are less or more durable than the baseline:
	// Refuse or Mark.
	Unequal string
	// Scratch is the directory on the file system under test; "" is the default.
	Scratch string
	// Generations is the number of launches of all arms; 0: as many as the budget allows.
	Generations int
	// Window is the length of a measured slice of an arm, Discard the time before it that is
	// thrown away; 0: the pilot chooses.
	Window, Discard time.Duration
	Neighbours      []Neighbour // arms name them
	// Arms are the environments for workloads that choose none; empty: every environment of
	// the ladder that the host can have. Empty where there are Named arms.
	Arms []string
	// Named are arms that the experiment defines itself, in place of environments of the ladder.
	Named     []ArmSpec
	Workloads []Workload
	Sizes     []Size
}

// Workload is one load with the arms under which it is compared.
type Workload struct {
	Name string // unique, fit for a file name
	Kind string // one of Words.Kinds
	// Params has a value for every parameter of the kind, after Parse and Set.
	Params map[string]string
	// Share is the weight of this workload in the division of the budget.
	Share float64
	// Optional says that the workload runs only when it is selected by name.
	Optional bool
	// Objective is judged in each arm by itself; the zero value: none.
	Objective Objective
	// Arms replace the experiment's choice of environments, or choose among its named arms; the
	// baseline is an arm in any case. Named are arms of this workload alone.
	Arms     []string
	Named    []ArmSpec
	Baseline string
}

// Objective is a latency that is good enough: the quantile Metric, such as p99, takes at most Most.
type Objective struct {
	Metric string
	Most   time.Duration
}

// Values of Unequal: arms that are less or more durable than the baseline are left out, or compared and
// marked.
const (
	Refuse = "refuse"
	Mark   = "mark"
)

// Values of the key until, see Experiment.UntilDecided.
const (
	UntilPrecise = "precise"
	UntilDecided = "decided"
)

// Defaults of an experiment and its workloads.
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

// Select keeps the selected workloads, in the order of the experiment. Each of names is a
// workload, or a kind for all workloads of that kind; without names all workloads stay that
// are not optional. Where is the flag that the errors name.
func (e *Experiment) Select(where string, names []string) error {
	if len(names) == 0 {
		e.Workloads = slices.DeleteFunc(e.Workloads, func(w Workload) bool { return w.Optional })
		return nil
	}
	var ps Problems
	selected := map[string]bool{}
	for i, n := range names {
		if slices.Contains(names[:i], n) {
			ps = append(ps, Problem{Where: where, Text: fmt.Sprintf("workload %q is named twice", n)})
		}
		found := e.called(n)
		if len(found) == 0 {
			ps = append(ps, Problem{Where: where, Text: fmt.Sprintf("no workload %q%s", n, hint.DidYouMean(n, e.workloadNames()))})
		}
		for _, name := range found {
			selected[name] = true
		}
	}
	if len(ps) > 0 {
		return ps
	}
	e.Sizes = nil // sizes set parameters of all workloads
	e.Workloads = slices.DeleteFunc(e.Workloads, func(w Workload) bool { return !selected[w.Name] })
	for i := range e.Workloads {
		e.Workloads[i].Optional = false
	}
	return nil
}

// called returns the workload of that name or, where there is none, all of that kind.
func (e *Experiment) called(name string) (names []string) {
	if e.Workload(name) != nil {
		return []string{name}
	}
	for _, w := range e.Workloads {
		if w.Kind == name {
			names = append(names, w.Name)
		}
	}
	return names
}

func (e *Experiment) workloadNames() []string {
	var names []string
	for _, w := range e.Workloads {
		names = append(names, w.Name)
	}
	return names
}

// nameFromPath is the name of an experiment whose file gives none.
func nameFromPath(path string) string {
	base := path[strings.LastIndexByte(path, '/')+1:]
	base = strings.TrimSuffix(strings.TrimSuffix(base, ".yaml"), ".yml")
	if base == "" || !utf8.ValidString(base) || strings.IndexFunc(base, unicode.IsControl) >= 0 {
		return "experiment"
	}
	return base
}
