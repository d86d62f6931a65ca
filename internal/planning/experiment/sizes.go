package experiment

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/tarelab/tare/internal/base/hint"
)

// Size is a named list of settings that --set size=NAME makes: the same experiment with more or
// less data and time.
type Size struct {
	Name     string
	Settings []Setting
}

// Setting is a path and a value, as in --set.
type Setting struct{ Path, Value string }

// sizeWord is the path in --set that chooses a size.
const sizeWord = "size"

func readSizes(e *Experiment, n *yaml.Node, s *sink) {
	e.Sizes = nil
	for _, p := range pairs("sizes", n, s) {
		if !workloadName.MatchString(p.name) {
			s.addProblem(p.key, "size name %q: want up to 40 of a-z, 0-9, - and _", p.name)
			continue
		}
		size := Size{Name: p.name}
		for _, set := range pairs("size "+p.name, p.value, s) {
			v, ok := scalarText(set.name, set.value, s)
			if !ok {
				continue
			}
			size.Settings = append(size.Settings, Setting{set.name, v})
			s.remember("sizes."+p.name+"."+set.name, set.value)
		}
		e.Sizes = append(e.Sizes, size)
	}
}

func writeSizes(e *Experiment) *yaml.Node {
	if len(e.Sizes) == 0 {
		return nil
	}
	m := &yaml.Node{Kind: yaml.MappingNode}
	for _, size := range e.Sizes {
		v := &yaml.Node{Kind: yaml.MappingNode}
		for _, set := range size.Settings {
			v.Content = append(v.Content, scalar(set.Path), scalar(set.Value))
		}
		if len(v.Content) == 0 {
			v.Style = yaml.FlowStyle
		}
		m.Content = append(m.Content, scalar(size.Name), v)
	}
	return m
}

// checkSizes applies every size to a copy and reports its problems.
func (e *Experiment) checkSizes(words Words, s *sink) {
	for _, size := range e.Sizes {
		trial := &sink{where: s.where}
		next := e.clone()
		for _, set := range size.Settings {
			n := s.nodeOf("sizes." + size.Name + "." + set.Path)
			if n == nil {
				n = &yaml.Node{}
			}
			value := &yaml.Node{Kind: yaml.ScalarNode, Value: set.Value, Style: yaml.DoubleQuotedStyle, Line: n.Line, Column: n.Column}
			if set.Path == sizeWord || strings.HasPrefix(set.Path, "sizes") {
				trial.addProblem(value, "a size cannot choose a size")
				continue
			}
			next.apply(strings.Split(set.Path, "."), value, words, trial)
		}
		if len(trial.list) == 0 {
			n := s.nodeOf("sizes." + size.Name)
			if n == nil {
				n = &yaml.Node{Line: 1, Column: 1}
			}
			next.check(words, trial, n)
		}
		for i := range trial.list {
			trial.list[i].Text = fmt.Sprintf("size %s: %s", size.Name, trial.list[i].Text)
		}
		s.list = append(s.list, trial.list...)
	}
}

// applySize applies the settings of the size that n names.
func (e *Experiment) applySize(n *yaml.Node, words Words, s *sink) {
	var names []string
	for _, size := range e.Sizes {
		if names = append(names, size.Name); size.Name != n.Value {
			continue
		}
		for _, set := range size.Settings {
			value := &yaml.Node{Kind: yaml.ScalarNode, Value: set.Value, Style: yaml.DoubleQuotedStyle, Line: n.Line, Column: n.Column}
			e.apply(strings.Split(set.Path, "."), value, words, s)
		}
		return
	}
	if len(names) == 0 {
		s.addProblem(n, "this experiment has no sizes")
		return
	}
	s.addProblem(n, "no size %q%s", n.Value, hint.DidYouMean(n.Value, names))
}
