package experiment

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Problem is one error in an experiment.
type Problem struct {
	// Where is the file, or the flag with the setting.
	Where string
	// Line and Column count from 1; 0 when Where is a flag.
	Line, Column int
	Text         string
}

func (p Problem) Error() string {
	if p.Line == 0 {
		return fmt.Sprintf("%s: %s", p.Where, p.Text)
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.Where, p.Line, p.Column, p.Text)
}

// Problems are all errors of an experiment, in the order of the file.
type Problems []Problem

// mostShown is the number of problems that an error prints.
const mostShown = 20

func (ps Problems) Error() string {
	var b strings.Builder
	for i, p := range ps {
		if i == mostShown {
			fmt.Fprintf(&b, "\n... and %d more", len(ps)-mostShown)
			break
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(p.Error())
	}
	return b.String()
}

// sink collects problems while an experiment is read.
type sink struct {
	where string
	list  Problems
	nodes map[string]*yaml.Node // nodes by path, for problems that are found after reading
	// baseline is the experiment's, for workloads that name none; empty: none was read.
	baseline string
}

// remember stores the node of a path for nodeOf; the first node of a path stays.
func (s *sink) remember(path string, n *yaml.Node) {
	if s.nodes == nil {
		s.nodes = map[string]*yaml.Node{}
	}
	if _, ok := s.nodes[path]; !ok {
		s.nodes[path] = n
	}
}

// nodeOf returns the node of a path; nil: none is stored.
func (s *sink) nodeOf(path string) *yaml.Node { return s.nodes[path] }

// addProblem adds a problem with the line and column of a node.
func (s *sink) addProblem(n *yaml.Node, format string, args ...any) {
	s.list = append(s.list, Problem{s.where, n.Line, n.Column, fmt.Sprintf(format, args...)})
}

// badName adds the problem of a name that a workload, an arm or a neighbour cannot have.
func (s *sink) badName(n *yaml.Node, what, name, reserved string) {
	if name == reserved {
		s.addProblem(n, "%s name %q: %q is reserved: choose another", what, name, reserved)
		return
	}
	s.addProblem(n, "%s name %q: want up to 40 of a-z, 0-9, - and _", what, name)
}

// err returns the problems, sorted by place; nil: there are none.
func (s *sink) err() error {
	if len(s.list) == 0 {
		return nil
	}
	slices.SortStableFunc(s.list, func(a, b Problem) int {
		return cmp.Or(a.Line-b.Line, a.Column-b.Column)
	})
	return s.list
}
