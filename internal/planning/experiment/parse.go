package experiment

import (
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/tarelab/tare/internal/base/hint"
)

// Parse reads an experiment. file is the name in errors; without its ending it is also the name of an
// experiment that has no key name. Every error is a Problems. Each problem has line and column, and
// suggests the nearest known word for an unknown one.
func Parse(file string, src []byte, words Words) (*Experiment, error) {
	s := &sink{where: file}
	root := document(src, s)
	if err := s.err(); err != nil {
		return nil, err
	}
	e := defaults(nameFromPath(file))
	readMapping(e, experimentKeys(words), "the experiment", root, s)
	if len(e.Workloads) == 0 && len(s.list) == 0 {
		s.addProblem(root, "no workloads; name at least one under workloads:")
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

// pair is an entry of a mapping.
type pair struct {
	name  string
	key   *yaml.Node
	value *yaml.Node
}

// pairs returns the entries of a mapping. It adds a problem for a repeated key and returns only the first
// entry of that key.
func pairs(what string, n *yaml.Node, s *sink) []pair {
	n = resolveAlias(n)
	if n.Kind != yaml.MappingNode {
		s.addProblem(n, "%s is %s; want keys and values", what, kindName(n))
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
			s.addProblem(k, "%q is given twice, first on line %d", name, out[j].key.Line)
			continue
		}
		out = append(out, pair{name, k, v})
	}
	return out
}

// readMapping fills x from a mapping. It reads in the order of keys and not of the file, because a key may
// depend on an earlier one: params on kind.
func readMapping[T any](x *T, keys []key[T], what string, n *yaml.Node, s *sink) {
	given := pairs(what, n, s)
	for _, k := range keys {
		if i := slices.IndexFunc(given, func(p pair) bool { return p.name == k.name }); i >= 0 {
			k.read(x, given[i].value, s)
		}
	}
	for _, p := range given {
		if _, ok := find(keys, p.name); !ok {
			s.addProblem(p.key, "unknown key %q%s", p.name, hint.DidYouMean(p.name, names(keys)))
		}
	}
}

var workloadName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,39}$`)

// readWorkloads reads the key workloads.
func readWorkloads(e *Experiment, n *yaml.Node, words Words, s *sink) {
	given := pairs("workloads", n, s)
	e.Workloads = nil
	for _, p := range given {
		if !workloadName.MatchString(p.name) || p.name == "workloads" {
			s.badName(p.key, "workload", p.name, "workloads")
			continue
		}
		s.remember("workloads."+p.name, p.key)
		w := Workload{Name: p.name, Share: 1, Baseline: e.defaultBaseline(s)}
		readMapping(&w, workloadKeys(words), "workload "+p.name, p.value, s)
		if t := resolveAlias(p.value); t.Kind == yaml.MappingNode && !hasKey(t, "kind") {
			s.addProblem(p.key, "workload %s has no kind%s", p.name, hint.DidYouMean("", words.kindNames()))
		}
		if k, ok := words.kind(w.Kind); ok {
			w.Params = k.complete(w.Params)
		}
		if t := resolveAlias(p.value); t.Kind == yaml.MappingNode && len(w.Named) > 0 && !hasKey(t, "baseline") {
			w.Baseline = w.Named[0].Name
		}
		e.Workloads = append(e.Workloads, w)
	}
}

// hasKey says whether a mapping has the key name.
func hasKey(m *yaml.Node, name string) bool {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == name {
			return true
		}
	}
	return false
}

func readKind(w *Workload, n *yaml.Node, words Words, s *sink) {
	readWord(&w.Kind, "kind", words.kindNames(), n, s)
	if k, ok := words.kind(w.Kind); ok {
		w.Params = k.complete(w.Params)
	}
}

func readParams(w *Workload, n *yaml.Node, words Words, s *sink) {
	if t := resolveAlias(n); t.Kind == yaml.ScalarNode && t.ShortTag() == "!!null" {
		return
	}
	given := pairs("params", n, s)
	k, ok := words.kind(w.Kind)
	if !ok {
		return // readKind has reported the unknown kind
	}
	for _, p := range given {
		readParam(w.Params, k, p, s)
	}
}

// defaultBaseline returns the baseline of a workload without a key baseline: that of the experiment, else
// the first named arm, else the host.
func (e *Experiment) defaultBaseline(s *sink) string {
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

// readBaseline reads the experiment's key baseline. It sets the baseline of the workloads read so far, and
// s.baseline for those that are read later.
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

// readParam checks one parameter and stores it in params.
func readParam(params map[string]string, k kind, given pair, s *sink) {
	p, ok := k.param(given.name)
	if !ok {
		s.addProblem(given.key, "%s has no parameter %q%s", k.name, given.name, hint.DidYouMean(given.name, k.paramNames()))
		return
	}
	v, ok := scalarText(p.Name, given.value, s)
	if !ok {
		return
	}
	if len(p.Words) > 0 && !p.Text && !slices.Contains(p.Words, v) {
		s.addProblem(given.value, "unknown %s %q%s", p.Name, v, hint.DidYouMean(v, p.Words))
		return
	}
	if p.Check != nil {
		if err := p.Check(v); err != nil {
			s.addProblem(given.value, "%s: %v", p.Name, err)
			return
		}
	}
	params[p.Name] = v
}
