package experiment

import (
	"maps"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/loads/workload"
)

// Words is the vocabulary of experiments, which the catalog provides.
type Words struct {
	Kinds      map[string][]workload.Param // parameters by kind of workload
	Removed    map[string]string           // kinds that there were, with what to do instead
	Neighbours map[string][]workload.Param // likewise, of neighbours
	Arms       []string                    // environments of the ladder
	Places     []string                    // those that a neighbour can be in, beside the host
	// Levels says what is wrong with the levels of an environment; nil: nothing.
	Levels func(environment, levels string) error
	// Isolation says what is wrong with a mechanism, "name" or "name=level"; nil: nothing.
	Isolation func(string) error
	// Mechanisms lists the mechanisms, each at its default level, for the help in a file.
	Mechanisms []string
	// Volume says what is wrong with a volume; nil: nothing.
	Volume func(string) error
	// Networks, Seccomp and Capabilities are the words that a container's keys accept.
	Networks, Seccomp, Capabilities []string

	// named and neighbours are the names of the experiment's own arms and neighbours.
	named, neighbours []string
}

// of adds the names that the experiment defines.
func (w Words) of(e *Experiment) Words {
	w = w.withNeighbours(e)
	w.named = armNamesOf(e.Named)
	return w
}

func (w Words) withNeighbours(e *Experiment) Words {
	w.neighbours = e.neighbourNames()
	return w
}

// armWords returns the arms that a workload chooses from.
func (w Words) armWords() []string {
	if len(w.named) > 0 {
		return w.named
	}
	return w.Arms
}

func (w Words) isolation(text string) error {
	if w.Isolation == nil || text == noneWord {
		return nil
	}
	return w.Isolation(text)
}

func (w Words) levels(environment, text string) error {
	if w.Levels == nil {
		return nil
	}
	return w.Levels(environment, text)
}

func (w Words) volume(text string) error {
	if w.Volume == nil {
		return nil
	}
	return w.Volume(text)
}

// kind is one kind of workload.
type kind struct {
	name   string
	params []workload.Param
}

func (w Words) kind(name string) (kind, bool) {
	params, ok := w.Kinds[name]
	return kind{name, params}, ok
}

func (w Words) neighbourKind(name string) (kind, bool) {
	params, ok := w.Neighbours[name]
	return kind{name, params}, ok
}

func (w Words) neighbourKinds() []string { return slices.Sorted(maps.Keys(w.Neighbours)) }

// armsHelp names the mechanisms of isolation if there is a neighbour.
func (w Words) armsHelp() string {
	help := "what is compared; all: every arm that applies"
	if len(w.Mechanisms) > 0 {
		help += "; isolation: none, or one or a list of " + strings.Join(w.Mechanisms, ", ")
	}
	return help
}

// neighbourKindsHelp names the kinds of neighbours.
func (w Words) neighbourKindsHelp() string {
	if len(w.Neighbours) == 0 {
		return ""
	}
	return "one of " + strings.Join(w.neighbourKinds(), ", ")
}

func (w Words) kindNames() []string { return slices.Sorted(maps.Keys(w.Kinds)) }

func (k kind) param(name string) (workload.Param, bool) {
	for _, p := range k.params {
		if p.Name == name {
			return p, true
		}
	}
	return workload.Param{}, false
}

func (k kind) paramNames() []string {
	var names []string
	for _, p := range k.params {
		names = append(names, p.Name)
	}
	return names
}

// complete gives every parameter of the kind a value and drops others.
func (k kind) complete(given map[string]string) map[string]string {
	out := map[string]string{}
	for _, p := range k.params {
		out[p.Name] = p.Default
		if v, ok := given[p.Name]; ok {
			out[p.Name] = v
		}
	}
	return out
}
