package experiment

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Problem is one thing that is wrong with an experiment.
type Problem struct {
	// Where is the file, or the flag that has the setting.
	Where string
	// Line and Column count from 1; 0 if Where is a flag.
	Line, Column int
	Text         string
}

func (p Problem) Error() string {
	if p.Line == 0 {
		return fmt.Sprintf("%s: %s", p.Where, p.Text)
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.Where, p.Line, p.Column, p.Text)
}

// Problems lists everything that is wrong, in the order of the file.
type Problems []Problem

// shown is how many problems are printed at most.
const shown = 20

func (ps Problems) Error() string {
	var b strings.Builder
	for i, p := range ps {
		if i == shown {
			fmt.Fprintf(&b, "\n... and %d more", len(ps)-shown)
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
	marks map[string]*yaml.Node // where things stand that are looked at again
	// baseline is the baseline of workloads that name none.
	baseline string
}

func (s *sink) mark(path string, n *yaml.Node) {
	if s.marks == nil {
		s.marks = map[string]*yaml.Node{}
	}
	if _, ok := s.marks[path]; !ok {
		s.marks[path] = n
	}
}

// marked returns the node that mark remembered for a path; nil: none.
func (s *sink) marked(path string) *yaml.Node { return s.marks[path] }

func (s *sink) at(n *yaml.Node, format string, args ...any) {
	s.list = append(s.list, Problem{s.where, n.Line, n.Column, fmt.Sprintf(format, args...)})
}

// name reports a name that a workload, an arm or a neighbour cannot have.
func (s *sink) name(n *yaml.Node, what, name, reserved string) {
	if name == reserved {
		s.at(n, "%s name %q: %q is reserved: choose another", what, name, reserved)
		return
	}
	s.at(n, "%s name %q: want up to 40 of a-z, 0-9, - and _", what, name)
}

// err returns the problems; nil: there are none.
func (s *sink) err() error {
	if len(s.list) == 0 {
		return nil
	}
	slices.SortStableFunc(s.list, func(a, b Problem) int {
		return cmp.Or(a.Line-b.Line, a.Column-b.Column)
	})
	return s.list
}
