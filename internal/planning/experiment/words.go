package experiment

import (
	"maps"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/loads/workload"
)

// Words is the vocabulary of experiments; the catalog makes it.
type Words struct {
	Kinds      map[string][]workload.Param // parameters by kind of workload
	Neighbours map[string][]workload.Param // parameters by kind of neighbour
	Arms       []string                    // environments
	Places     []string                    // pods: the environments of neighbours, beside the host
	// Levels, Isolation and Volume check a word; nil accepts every word. Levels checks the
	// levels of an environment.
	Levels func(environment, levels string) error
	// Isolation checks a mechanism, "name" or "name=level".
	Isolation func(string) error
	// Mechanisms are all mechanisms, each at its default level, for the help in a file.
	Mechanisms []string
	// Volume checks the word of a volume.
	Volume func(string) error
	// OfPod says that a volume is one that only a pod has; nil: none is.
	OfPod func(volume string) bool
	// Metric is tare's name of a metric that other tools call otherwise; nil: a name stays.
	Metric func(string) string
	// Networks, Seccomp and Capabilities are the words for these settings of a container.
	Networks, Seccomp, Capabilities []string

	// Names of the arms and neighbours that an experiment defines itself.
	named, neighbours []string
}

// of adds the names that the experiment defines itself.
func (w Words) of(e *Experiment) Words {
	w = w.withNeighbours(e)
	w.named = armNamesOf(e.Named)
	return w
}

func (w Words) withNeighbours(e *Experiment) Words {
	w.neighbours = e.neighbourNames()
	return w
}

// armWords are the names to choose arms from.
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

func (w Words) ofPod(volume string) bool { return w.OfPod != nil && w.OfPod(volume) }

// isPod says that an environment, NAME or NAME:LEVELS, is a pod.
func (w Words) isPod(environment string) bool {
	name, _, _ := strings.Cut(environment, ":")
	return slices.Contains(w.Places, name)
}

// kind is a kind of workload or neighbour with its parameters.
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

// armsHelp explains the key arms, with the mechanisms of isolation where there is a neighbour.
func (w Words) armsHelp() string {
	help := "what is compared; all: every arm that applies"
	if len(w.Mechanisms) > 0 {
		help += "; isolation: none, or one or a list of " + strings.Join(w.Mechanisms, ", ")
	}
	return help
}

// neighbourHelp names the kinds of neighbours.
func (w Words) neighbourHelp() string {
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

// complete returns a value for every parameter of the kind, given or default; others are dropped.
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
