package experiment

import (
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/tarelab/tare/internal/base/hint"
)

// check finds the problems that only the whole experiment shows: arms that name neighbours or
// parameters that are not there, and unknown baselines. A problem without a place in the file
// is reported at the node at.
func (e *Experiment) check(words Words, s *sink, at *yaml.Node) {
	words = words.of(e)
	place := func(path string) *yaml.Node {
		if n := s.nodeOf(path); n != nil {
			return n
		}
		return at
	}
	seen := map[string]bool{} // arms, and ARM=KIND: workloads share arms, a problem is reported once
	for i := range e.Workloads {
		w := &e.Workloads[i]
		kind, ok := words.kind(w.Kind)
		if !ok {
			continue
		}
		for _, a := range e.ArmsOf(w) {
			n := place("arms." + a.Name)
			if a.Neighbour != "" && e.Neighbour(a.Neighbour) == nil && !seen[a.Name] {
				s.addProblem(n, "arm %s: no neighbour %q%s", a.Name, a.Neighbour, hint.DidYouMean(a.Neighbour, e.neighbourNames()))
			}
			if a.Neighbour == "" && len(a.Isolation) > 0 && !seen[a.Name] {
				s.addProblem(n, "arm %s: isolation from what? it has no neighbour", a.Name)
			}
			if h := e.Neighbour(a.Neighbour); h != nil && h.inPod() && a.isolated() && !seen[a.Name] {
				s.addProblem(n, "arm %s: isolation is set on a neighbour of the host; of one in a pod the cluster sets what protects from it: its environment and the arm's", a.Name)
			}
			seen[a.Name] = true
			if seen[a.Name+"="+kind.name] && len(w.Named) == 0 {
				continue
			}
			seen[a.Name+"="+kind.name] = true
			for _, name := range slices.Sorted(maps.Keys(a.Set)) {
				n := place("arms." + a.Name + ".set." + name)
				v := &yaml.Node{Kind: yaml.ScalarNode, Value: a.Set[name], Style: yaml.DoubleQuotedStyle, Line: n.Line, Column: n.Column}
				before := len(s.list)
				readParam(map[string]string{}, kind, pair{name, v, v}, s)
				for j := range s.list[before:] {
					s.list[before+j].Text = "workload " + w.Name + ", arm " + a.Name + ": " + s.list[before+j].Text
				}
			}
		}
		e.checkBaseline(w, words, s, place("workloads."+w.Name))
	}
}

func (e *Experiment) checkBaseline(w *Workload, words Words, s *sink, n *yaml.Node) {
	have := words.Arms
	if arms := e.namedOf(w); len(arms) > 0 {
		have = armNamesOf(arms)
	}
	if !slices.Contains(have, w.Baseline) {
		s.addProblem(n, "workload %s: unknown baseline %q%s", w.Name, w.Baseline, hint.DidYouMean(w.Baseline, have))
	}
	for _, name := range w.Arms {
		if !slices.Contains(have, name) {
			s.addProblem(n, "workload %s: unknown arm %q%s", w.Name, name, hint.DidYouMean(name, have))
		}
	}
}

// namedOf are the named arms that a workload can choose from: its own, or the experiment's.
func (e *Experiment) namedOf(w *Workload) []ArmSpec {
	if len(w.Named) > 0 {
		return w.Named
	}
	return e.Named
}

// Volumes are the words of all volumes of the experiment and its arms; a word can be empty or
// stand there several times.
func (e *Experiment) Volumes() []string {
	words := []string{e.Volume}
	for i := range e.Workloads {
		for _, a := range e.ArmsOf(&e.Workloads[i]) {
			words = append(words, a.Volume)
		}
	}
	return words
}

// ArmsOf are the named arms of a workload, with its baseline; empty where the workload has
// environments of the ladder instead.
func (e *Experiment) ArmsOf(w *Workload) []ArmSpec {
	var out []ArmSpec
	all := e.namedOf(w)
	for _, a := range all {
		if len(w.Arms) == 0 || a.Name == w.Baseline || slices.Contains(w.Arms, a.Name) || unprotected(a, all, w.Arms) {
			out = append(out, a)
		}
	}
	return out
}

// unprotected says whether a is one of the chosen arms without its isolation: the loss of which the isolation gives back a
// part. It stays, as the twin does.
func unprotected(a ArmSpec, all []ArmSpec, chosen []string) bool {
	return a.Neighbour != "" && len(a.Isolation) == 0 && slices.ContainsFunc(all, func(x ArmSpec) bool {
		return slices.Contains(chosen, x.Name) && len(x.Isolation) > 0 && x.Neighbour == a.Neighbour && x.Environment == a.Environment && x.Volume == a.Volume
	})
}
