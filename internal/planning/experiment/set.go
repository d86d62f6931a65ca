package experiment

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/loads/workload"
)

// Set changes one value: "key=value" sets a key at the top of the file, "WORKLOAD.PARAM=value" a
// parameter or a key of a workload. The full path in the file is accepted too:
// "workloads.WORKLOAD.params.PARAM=value".
func (e *Experiment) Set(setting string, words Words) error {
	path, value, ok := strings.Cut(setting, "=")
	if !ok {
		return Problems{{Where: "--set " + setting, Text: "want path=value, for example budget=3m"}}
	}
	return e.Apply("--set "+setting, path, value, words)
}

// Apply changes the value at a path, as Set does. where is the flag that the errors name. On
// error the experiment is unchanged.
func (e *Experiment) Apply(where, path, value string, words Words) error {
	if !utf8.ValidString(value) {
		// The record has the experiment as YAML, which is UTF-8.
		return Problems{{Where: where, Text: fmt.Sprintf("%q is not UTF-8", value)}}
	}
	s := &sink{where: where}
	next := e.clone()
	// Quoted, so that the value of a flag is text and never a null of YAML.
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: value, Style: yaml.DoubleQuotedStyle}
	next.apply(strings.Split(path, "."), n, words, s)
	if len(s.list) == 0 {
		next.check(words, s, n)
	}
	if err := s.err(); err != nil {
		return err
	}
	*e = *next
	return nil
}

func (e *Experiment) apply(path []string, n *yaml.Node, words Words, s *sink) {
	words = words.of(e)
	switch {
	case len(path) > 1 && path[0] == "limits" && e.Workload("limits") == nil:
		e.applyLimit(strings.Join(path[1:], "."), n, words, s)
		return
	case len(path) > 2 && path[0] == "workloads":
		path = path[1:]
	case len(path) > 2 && path[0] == "neighbours":
		e.applyNeighbour(path[1:], n, words, s)
		return
	case len(path) > 2 && path[0] == "arms":
		applyArm(e.Named, path[1:], n, words, s)
		return
	}
	if len(path) == 1 {
		e.applyTop(path[0], n, words, s)
		return
	}
	w := e.Workload(path[0])
	switch {
	case w == nil && e.Neighbour(path[0]) != nil:
		e.applyNeighbour(path, n, words, s)
	case w == nil:
		s.addProblem(n, "no workload %q%s", path[0], hint.DidYouMean(path[0], e.workloadNames()))
	case len(path) == 2:
		w.applyAny(path[1], n, words, s)
	case len(path) == 3 && path[1] == "params":
		w.applyParam(path[2], n, words, s)
	default:
		s.addProblem(n, "no such path; want KEY, WORKLOAD.PARAM or workloads.WORKLOAD.params.PARAM")
	}
}

func (e *Experiment) applyTop(name string, n *yaml.Node, words Words, s *sink) {
	keys := experimentKeys(words)
	k, ok := find(keys, name)
	if name == sizeWord {
		e.applySize(n, words, s)
		return
	}
	if name == "neighbours" || name == "sizes" || name == "limits" {
		s.addProblem(n, "%s is not one value", name)
		return
	}
	if name == "arms" && len(e.Named) > 0 {
		e.Sizes = nil // they may name arms that are about to be removed
	}
	if name == "workloads" {
		s.addProblem(n, "workloads is not one value; want WORKLOAD.PARAM, WORKLOAD one of %s", strings.Join(e.workloadNames(), ", "))
		return
	}
	if !ok && e.applyEach(name, n, words, s) {
		return
	}
	if !ok && (name == "server" || name == "service") {
		s.addProblem(n, "unknown key %q: want --server PATH for all loads, or WORKLOAD.%s, WORKLOAD one of %s", name, name, strings.Join(e.workloadNames(), ", "))
		return
	}
	if !ok {
		s.addProblem(n, "unknown key %q%s", name, hint.DidYouMean(name, names(keys)))
		return
	}
	before := e.Named
	k.read(e, n, s)
	if name == "arms" {
		e.dropRemoved(before)
	}
}

// applyEach sets a parameter that bounds dumps in each workload that has it; false: it is none.
func (e *Experiment) applyEach(name string, n *yaml.Node, words Words, s *sink) (found bool) {
	if name != workload.StatementSize && name != workload.StatementTime {
		return false
	}
	for i := range e.Workloads {
		kind, _ := words.kind(e.Workloads[i].Kind)
		if _, ok := kind.param(name); ok {
			found = true
			if e.Workloads[i].applyParam(name, n, words, s); len(s.list) > 0 {
				break // the others would say the same
			}
		}
	}
	return found
}

// dropRemoved removes from the workloads' own choices the arms that were named before and are
// not now. A workload with no arm left keeps its baseline.
func (e *Experiment) dropRemoved(before []ArmSpec) {
	had, have := armNamesOf(before), armNamesOf(e.Named)
	for i := range e.Workloads {
		w := &e.Workloads[i]
		if len(w.Arms) == 0 || len(w.Named) > 0 {
			continue
		}
		w.Arms = slices.DeleteFunc(slices.Clone(w.Arms), func(name string) bool {
			return slices.Contains(had, name) && !slices.Contains(have, name)
		})
		if len(w.Arms) == 0 {
			w.Arms = []string{w.Baseline}
		}
	}
}

// applyAny sets a parameter of the workload or, where it has none of that name, a key.
func (w *Workload) applyAny(name string, n *yaml.Node, words Words, s *sink) {
	kind, _ := words.kind(w.Kind)
	keys := workloadKeys(words)
	if _, ok := kind.param(name); ok {
		w.applyParam(name, n, words, s)
		return
	}
	if name == "params" {
		s.addProblem(n, "params is not one value; want %s.PARAM, PARAM one of %s", w.Name, strings.Join(kind.paramNames(), ", "))
		return
	}
	if k, ok := find(keys, name); ok {
		k.read(w, n, s)
		return
	}
	known := append(kind.paramNames(), "kind", "share", "optional", "arms", "baseline")
	s.addProblem(n, "%s (%s) has no parameter %q%s", w.Name, w.Kind, name, hint.DidYouMean(name, known))
}

func (w *Workload) applyParam(name string, n *yaml.Node, words Words, s *sink) {
	kind, ok := words.kind(w.Kind)
	if !ok {
		s.addProblem(n, "unknown kind %q", w.Kind)
		return
	}
	readParam(w.Params, kind, pair{name, n, n}, s)
}

// clone copies everything that Apply can change.
func (e *Experiment) clone() *Experiment {
	c := *e
	c.Workloads = make([]Workload, len(e.Workloads))
	for i, w := range e.Workloads {
		params := make(map[string]string, len(w.Params))
		for k, v := range w.Params {
			params[k] = v
		}
		w.Params = params
		w.Named = cloneArms(w.Named)
		c.Workloads[i] = w
	}
	c.Named = cloneArms(e.Named)
	c.Limits = slices.Clone(e.Limits)
	c.Neighbours = slices.Clone(e.Neighbours)
	for i := range c.Neighbours {
		c.Neighbours[i].Params = maps.Clone(c.Neighbours[i].Params)
	}
	return &c
}

func cloneArms(arms []ArmSpec) []ArmSpec {
	out := slices.Clone(arms)
	for i := range out {
		out[i].Set = maps.Clone(out[i].Set)
	}
	return out
}
