package experiment

import (
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/tarelab/tare/internal/base/hint"
)

// Parse reads an experiment. Errors name the file, and without its ending it is the name of an
// experiment that has none. Every error is a Problems: each problem has line and column and, for an
// unknown word, the nearest known one.
func Parse(file string, src []byte, words Words) (*Experiment, error) {
	s := &sink{where: file}
	root := document(src, s)
	if err := s.err(); err != nil {
		return nil, err
	}
	e := defaults(fileName(file))
	read(e, experimentKeys(words), "the experiment", root, s)
	if len(e.Workloads) == 0 && len(s.list) == 0 {
		s.at(root, "no workloads; name at least one under workloads:")
	}
	if len(s.list) == 0 {
		e.check(words, s, root)
	}
	if len(s.list) == 0 {
		e.checkSizes(words, s)
	}
	if err := s.err(); err != nil {
		return nil, err
	}
	return e, nil
}

// pair is one entry of a mapping.
type pair struct {
	name  string
	key   *yaml.Node
	value *yaml.Node
}

// pairs lists the entries of a mapping; an entry that is given twice counts once.
func pairs(what string, n *yaml.Node, s *sink) []pair {
	n = target(n)
	if n.Kind != yaml.MappingNode {
		s.at(n, "%s is %s; want keys and values", what, kindName(n))
		return nil
	}
	var out []pair
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		name, ok := scalarText("a key", k, s)
		if !ok {
			continue
		}
		if j := slices.IndexFunc(out, func(p pair) bool { return p.name == name }); j >= 0 {
			s.at(k, "%q is given twice, first on line %d", name, out[j].key.Line)
			continue
		}
		out = append(out, pair{name, k, v})
	}
	return out
}

// read fills x from a mapping, in the order of the keys.
func read[T any](x *T, keys []key[T], what string, n *yaml.Node, s *sink) {
	given := pairs(what, n, s)
	for _, k := range keys {
		if i := slices.IndexFunc(given, func(p pair) bool { return p.name == k.name }); i >= 0 {
			k.read(x, given[i].value, s)
		}
	}
	for _, p := range given {
		if _, ok := find(keys, p.name); !ok {
			s.at(p.key, "unknown key %q%s", p.name, hint.DidYouMean(p.name, names(keys)))
		}
	}
}

var workloadName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,39}$`)

func readWorkloads(e *Experiment, n *yaml.Node, words Words, s *sink) {
	given := pairs("workloads", n, s)
	e.Workloads = nil
	for _, p := range given {
		if !workloadName.MatchString(p.name) || p.name == "workloads" {
			s.name(p.key, "workload", p.name, "workloads")
			continue
		}
		s.mark("workloads."+p.name, p.key)
		w := Workload{Name: p.name, Share: 1, Baseline: e.usualBaseline(s)}
		read(&w, workloadKeys(words), "workload "+p.name, p.value, s)
		if t := target(p.value); t.Kind == yaml.MappingNode && !has(t, "kind") {
			s.at(p.key, "workload %s has no kind%s", p.name, hint.DidYouMean("", words.kindNames()))
		}
		if k, ok := words.kind(w.Kind); ok {
			w.Params = k.complete(w.Params)
		}
		if t := target(p.value); t.Kind == yaml.MappingNode && len(w.Named) > 0 && !has(t, "baseline") {
			w.Baseline = w.Named[0].Name
		}
		e.Workloads = append(e.Workloads, w)
	}
}

// has says whether a mapping has a key.
func has(m *yaml.Node, name string) bool {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == name {
			return true
		}
	}
	return false
}

func readKind(w *Workload, n *yaml.Node, words Words, s *sink) {
	if instead, was := words.Removed[target(n).Value]; was {
		s.at(n, "kind %q is no longer there; %s", target(n).Value, instead)
		return
	}
	readWord(&w.Kind, "kind", words.kindNames(), n, s)
	if k, ok := words.kind(w.Kind); ok {
		w.Params = k.complete(w.Params)
	}
}

func readParams(w *Workload, n *yaml.Node, words Words, s *sink) {
	if t := target(n); t.Kind == yaml.ScalarNode && t.ShortTag() == "!!null" {
		return
	}
	given := pairs("params", n, s)
	k, ok := words.kind(w.Kind)
	if !ok {
		return // the kind is the problem, and it was reported
	}
	for _, p := range given {
		readParam(w.Params, k, p, s)
	}
}

// usualBaseline returns the baseline of a workload that names none: that of the experiment, else
// the first named arm, else the host.
func (e *Experiment) usualBaseline(s *sink) string {
	switch {
	case s.baseline != "":
		return s.baseline
	case len(e.Named) > 0:
		return e.Named[0].Name
	}
	return Baseline
}

// baselines returns the baselines of all workloads.
func (e *Experiment) baselines() []string {
	var all []string
	for _, w := range e.Workloads {
		all = append(all, w.Baseline)
	}
	return all
}

// readBaseline sets the baseline of all workloads: of those that were read already, and of those
// that follow.
func readBaseline(e *Experiment, n *yaml.Node, words Words, s *sink) {
	before := len(s.list)
	readWord(&s.baseline, "baseline", words.armWords(), n, s)
	if len(s.list) > before {
		return
	}
	for i := range e.Workloads {
		e.Workloads[i].Baseline = s.baseline
	}
}

// readParam reads one parameter into params.
func readParam(params map[string]string, k kind, given pair, s *sink) {
	p, ok := k.param(given.name)
	if !ok {
		s.at(given.key, "%s has no parameter %q%s", k.name, given.name, hint.DidYouMean(given.name, k.paramNames()))
		return
	}
	v, ok := scalarText(p.Name, given.value, s)
	if !ok {
		return
	}
	if len(p.Words) > 0 && !slices.Contains(p.Words, v) {
		s.at(given.value, "unknown %s %q%s", p.Name, v, hint.DidYouMean(v, p.Words))
		return
	}
	if p.Check != nil {
		if err := p.Check(v); err != nil {
			s.at(given.value, "%s: %v", p.Name, err)
			return
		}
	}
	params[p.Name] = v
}
