package sqlfile

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/undo/trust"
)

// Ending is the ending of the name of a file of statements.
const Ending = ".sql"

// Step is a step of a script: a statement, a number that is drawn for a name, or a condition.
type Step struct {
	Line int
	// Text is a statement in which :NAME stands for the number of that name.
	Text string
	// Name, Low and High are of \set NAME random(LOW, HIGH); both are equal for \set NAME NUMBER.
	Name      string
	Low, High uint32
	// Unless the number of Name has the relation Op to Low, the script goes on at the step To, counted from 0.
	// Without Op it goes there in any case.
	Op string
	To int

	word string // of a command: set, if, elif, else or endif
}

// CheckScript returns an error with the line if a script may not run.
func CheckScript(path string, d Dialect) error {
	text, err := trust.ReadGiven(path)
	if err != nil {
		return hint.New(fmt.Errorf("read the statements: %w", err), nameRegular)
	}
	if d == MySQL {
		_, err = Script(text)
	} else {
		names := drawnNames{"CLIENT_ID": true, "SCALE": true, "RANDOM_SEED": true, "DEFAULT_SEED": true} // pgbench's own
		names[""] = answers.Match(text)
		_, err = steps(text, d, func(s Statement) (Step, error) { return Step{}, names.see(s) })
	}
	if err != nil {
		return At(path, err)
	}
	return nil
}

// LineOfCommand returns the line of a command of a script for pgbench, counted from 0 as pgbench counts them:
// statements and backslash commands. 0: unknown.
func LineOfCommand(text []byte, command int) int {
	if answers.Match(text) { // \gset belongs to the statement before it
		return 0
	}
	line, n := 0, 0
	_, err := steps(text, Postgres, func(s Statement) (Step, error) {
		if n == command {
			line = s.Line
		}
		n++
		return Step{}, nil
	})
	if err != nil {
		return 0
	}
	return line
}

// Script reads the steps of a script for the MySQL family. Its commands are some of pgbench's: \set, \if, \elif,
// \else and \endif.
func Script(text []byte) ([]Step, error) {
	names := drawnNames{}
	all, err := steps(text, MySQL, func(s Statement) (step Step, err error) {
		if err := names.see(s); err != nil {
			return step, err
		}
		word, _, _ := strings.Cut(strings.TrimPrefix(s.Command, "\\"), " ")
		switch word {
		case "":
			step.Text = s.Text
		case "set":
			step, err = drawn(s.Command)
		default:
			step, err = condition(s.Command)
		}
		step.Line, step.word = s.Line, word
		return step, err
	})
	if err != nil {
		return nil, err
	}
	return branches(all)
}

// answers matches the commands of pgbench that set names from an answer.
var answers = regexp.MustCompile(`\\[ga]set\b`)

// shells matches the commands of pgbench that start programs, also in strings and comments: versions of pgbench
// disagree on where some strings end.
var shells = regexp.MustCompile(`(?i)\\\s*(set)?shell`)

// errNoStatement is the error about a file without statements.
func errNoStatement() error { return hint.New(errors.New("no statement in it"), addOne) }

// steps makes steps of each statement and command of a script.
func steps(text []byte, d Dialect, step func(Statement) (Step, error)) (all []Step, err error) {
	r := NewReader(bytes.NewReader(text), d, Longest)
	r.scripted = true
	switch at := shells.FindIndex(text); {
	case d != Postgres:
	case r.marked:
		return nil, &Error{1, hint.New(errors.New(markedScript), unmark)}
	case at != nil:
		return nil, &Error{1 + bytes.Count(text[:at[0]], []byte("\n")), clientCommand(string(text[at[0]:at[1]]))}
	}
	statements := 0
	err = Each(r, func(s Statement) error {
		one, err := step(s)
		switch {
		case err != nil:
			return &Error{s.Line, err}
		case s.Rows:
			return &Error{s.Line, hint.New(errors.New("COPY with rows"), removeIt)}
		case s.Command == "":
			statements++
		}
		all = append(all, one)
		return nil
	})
	if err == nil && statements == 0 {
		err = errNoStatement()
	}
	return all, err
}

var set = regexp.MustCompile(`^\\set\s+([A-Za-z_][A-Za-z0-9_]*)\s+(?:random\(\s*(\d+)\s*,\s*(\d+)\s*\)|(\d+))$`)

// drawn reads \set NAME random(LOW, HIGH) or \set NAME NUMBER.
func drawn(command string) (s Step, err error) {
	m := set.FindStringSubmatch(strings.TrimSpace(command))
	if m == nil {
		return s, hint.New(fmt.Errorf("%q: want \\set NAME random(LOW, HIGH) or \\set NAME NUMBER", command), "other functions of pgbench are not for sysbench")
	}
	low, high := m[2], m[3]
	if m[4] != "" {
		low, high = m[4], m[4]
	}
	var bounds [2]uint64
	for i, text := range []string{low, high} {
		if bounds[i], err = strconv.ParseUint(text, 10, 32); err != nil {
			return s, fmt.Errorf("%s: want a whole number below 2^32", text)
		}
	}
	if bounds[0] > bounds[1] {
		return s, fmt.Errorf("random(%s, %s): the first number is the larger one", low, high)
	}
	return Step{Name: m[1], Low: uint32(bounds[0]), High: uint32(bounds[1])}, nil
}
