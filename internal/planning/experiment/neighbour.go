package experiment

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/tarelab/tare/internal/base/hint"
)

// Neighbour is a load that makes noise beside an arm.
type Neighbour struct {
	Name string // unique, fit for a file name
	Kind string // one of Words.Neighbours
	// Params has a value for every parameter of the kind.
	Params map[string]string
	// Environment is one of Words.Places, optionally with a colon and levels; empty: the host.
	Environment string
	Memory      int64 // limit in bytes
	Pids        int   // limit of processes and threads together
}

// inPod says whether the neighbour runs in a pod of its own.
func (h *Neighbour) inPod() bool { return h.Environment != "" }

// placeKey is the key environment of a neighbour. The host is stored as an empty Environment.
func placeKey(words Words) key[Neighbour] {
	k := environmentKey("where it runs: host, or a pod beside the arm: "+strings.Join(words.Places, ", "),
		append([]string{Baseline}, words.Places...), words, func(x *Neighbour) *string { return &x.Environment })
	read := k.read
	k.read = func(x *Neighbour, n *yaml.Node, s *sink) {
		read(x, n, s)
		if x.Environment == Baseline {
			x.Environment = ""
		}
	}
	return k
}

// Default limits of a neighbour, and the most processes and threads that it may have.
const (
	neighbourMemory = 256 << 20
	neighbourPids   = 1024
	mostPids        = 1 << 22
)

func neighbourKeys(words Words) []key[Neighbour] {
	type h = Neighbour
	return []key[h]{
		{
			"kind", words.neighbourHelp(),
			func(x *h, n *yaml.Node, s *sink) {
				readWord(&x.Kind, "kind of neighbour", words.neighbourKinds(), n, s)
			},
			func(x *h) *yaml.Node { return scalar(x.Kind) },
			wordShape(words.neighbourKinds()), nil,
		},
		{
			"params", "",
			func(x *h, n *yaml.Node, s *sink) {
				if t := resolveAlias(n); t.Kind == yaml.ScalarNode && t.ShortTag() == "!!null" {
					return
				}
				if k, ok := words.neighbourKind(x.Kind); ok {
					x.Params = k.complete(x.Params)
					for _, p := range pairs("params", n, s) {
						readParam(x.Params, k, p, s)
					}
				}
			},
			func(x *h) *yaml.Node { k, _ := words.neighbourKind(x.Kind); return paramsNode(x.Params, k) },
			described("parameters of the kind", shape{}), nil,
		},
		sparse(placeKey(words)),
		bytesKey("memory", "beyond it the kernel ends the neighbour", 1<<20, 1<<44, func(x *h) *int64 { return &x.Memory }),
		{
			"pids", "processes and threads that it may have",
			func(x *h, n *yaml.Node, s *sink) {
				var v int
				readValue(&v, "pids", countUpTo("pids", mostPids), n, s)
				if v > 0 {
					x.Pids = v
				}
			},
			func(x *h) *yaml.Node { return scalar(formatAuto(x.Pids)) },
			countShape(1, mostPids), nil,
		},
	}
}

func readNeighbours(e *Experiment, n *yaml.Node, words Words, s *sink) {
	e.Neighbours = nil
	for _, p := range pairs("neighbours", n, s) {
		if !workloadName.MatchString(p.name) || p.name == noneWord {
			s.badName(p.key, "neighbour", p.name, noneWord)
			continue
		}
		h := Neighbour{Name: p.name, Memory: neighbourMemory, Pids: neighbourPids}
		readMapping(&h, neighbourKeys(words), "neighbour "+p.name, p.value, s)
		if t := resolveAlias(p.value); t.Kind == yaml.MappingNode && !hasKey(t, "kind") {
			s.addProblem(p.key, "neighbour %s has no kind%s", p.name, hint.DidYouMean("", words.neighbourKinds()))
		}
		if k, ok := words.neighbourKind(h.Kind); ok {
			h.Params = k.complete(h.Params)
		}
		e.Neighbours = append(e.Neighbours, h)
	}
}

func writeNeighbours(e *Experiment, words Words) *yaml.Node {
	if len(e.Neighbours) == 0 {
		return nil
	}
	m := &yaml.Node{Kind: yaml.MappingNode}
	for i := range e.Neighbours {
		h := &e.Neighbours[i]
		m.Content = append(m.Content, scalar(h.Name), write(h, neighbourKeys(words), i == 0))
	}
	return m
}

// applyNeighbour sets one key or parameter of a neighbour.
func (e *Experiment) applyNeighbour(path []string, n *yaml.Node, words Words, s *sink) {
	i := slices.IndexFunc(e.Neighbours, func(h Neighbour) bool { return h.Name == path[0] })
	if i < 0 {
		s.addProblem(n, "no neighbour %q%s", path[0], hint.DidYouMean(path[0], e.neighbourNames()))
		return
	}
	h := &e.Neighbours[i]
	if len(path) == 3 && path[1] == "params" {
		path = path[1:]
	} else if len(path) != 2 {
		s.addProblem(n, "no such path; want neighbours.NEIGHBOUR.PARAM")
		return
	}
	kind, _ := words.neighbourKind(h.Kind)
	name := path[1]
	if _, ok := kind.param(name); ok {
		readParam(h.Params, kind, pair{name, n, n}, s)
		return
	}
	keys := neighbourKeys(words)
	if k, ok := find(keys, name); ok && name != "params" {
		k.read(h, n, s)
		if k, ok := words.neighbourKind(h.Kind); ok {
			h.Params = k.complete(h.Params)
		}
		return
	}
	s.addProblem(n, "%s (%s) has no parameter %q%s", h.Name, h.Kind, name, hint.DidYouMean(name, append(kind.paramNames(), "kind", "environment", "memory", "pids")))
}

// Neighbour returns the neighbour of that name; nil: there is none.
func (e *Experiment) Neighbour(name string) *Neighbour {
	for i := range e.Neighbours {
		if e.Neighbours[i].Name == name {
			return &e.Neighbours[i]
		}
	}
	return nil
}

func (e *Experiment) neighbourNames() []string {
	var names []string
	for _, h := range e.Neighbours {
		names = append(names, h.Name)
	}
	return names
}
