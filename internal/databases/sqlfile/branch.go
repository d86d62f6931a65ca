package sqlfile

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/tarelab/tare/internal/base/hint"
)

var conditions = regexp.MustCompile(`^\\(if|elif)\s+:([A-Za-z_][A-Za-z0-9_]*)\s*(=|<>|<=|>=|<|>)\s*(\d+)$`)

// condition reads \if :NAME <= NUMBER, \elif with the same, \else and \endif.
func condition(command string) (s Step, err error) {
	command = strings.TrimSpace(command)
	if command == `\else` || command == `\endif` {
		return s, nil
	}
	m := conditions.FindStringSubmatch(command)
	if m == nil {
		return s, hint.New(fmt.Errorf(wantBranch, command), otherForms)
	}
	n, err := strconv.ParseUint(m[4], 10, 32)
	if err != nil {
		return s, fmt.Errorf("%s: want a whole number below 2^32", m[4])
	}
	return Step{Name: m[2], Op: m[3], Low: uint32(n)}, nil
}

// block is an open \if.
type block struct {
	line  int
	test  int   // the last \if or \elif, whose To is open; -1 behind \else
	leave []int // ends of branches, whose To is open
}

// branches makes jumps of conditions.
func branches(all []Step) (out []Step, err error) {
	var open []*block
	drawn := map[string]bool{}
	for _, s := range all {
		if len(open) == 0 && (s.word == "elif" || s.word == "else" || s.word == "endif") {
			return nil, &Error{s.Line, hint.New(errors.New(noIf), correctIt)}
		}
		switch s.word {
		case "set":
			drawn[s.Name] = true
		case "if", "elif":
			if !drawn[s.Name] {
				return nil, &Error{s.Line, hint.New(fmt.Errorf(notSet, s.Name), correctIt)}
			}
		}
		if s.word == "if" {
			open = append(open, &block{line: s.Line, test: len(out)})
		}
		if out, err = branch(out, s, open); err != nil {
			return nil, &Error{s.Line, hint.New(err, correctIt)}
		}
		if s.word == "endif" {
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		return nil, &Error{open[len(open)-1].line, hint.New(errors.New(openIf), correctIt)}
	}
	return out, nil
}

// branch adds a step to those before it. The last of open is the \if to which \elif, \else and \endif belong.
func branch(out []Step, s Step, open []*block) ([]Step, error) {
	switch s.word {
	case "elif", "else":
		b := open[len(open)-1]
		if b.test < 0 {
			return nil, errors.New(behindElse)
		}
		b.leave = append(b.leave, len(out))
		out = append(out, Step{Line: s.Line, word: "leave"})
		out[b.test].To, b.test = len(out), -1
		if s.word == "else" {
			return out, nil
		}
		b.test = len(out)
	case "endif":
		b := open[len(open)-1]
		if b.test >= 0 {
			out[b.test].To = len(out)
		}
		for _, i := range b.leave {
			out[i].To = len(out)
		}
		return out, nil
	}
	return append(out, s), nil
}

// Jumps says whether the step is a condition or the end of a branch.
func (s Step) Jumps() bool { return s.Op != "" || s.word == "leave" }
