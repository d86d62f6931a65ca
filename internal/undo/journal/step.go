package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Step is one change of the host, as data. Each kind of change is a type in the package that
// makes the change. The fields of the type are flat JSON, and none is called "kind".
type Step interface {
	// Kind is the name of the kind in a journal.
	Kind() string
	// String names the change for people.
	String() string
	// Check returns an error if the step cannot be undone, or is not the run's to undo. It is
	// called before the step is written, and again after it was read.
	Check(run string) error
	// Lasts says whether the change outlives a restart of the machine.
	Lasts() bool
	// Undo undoes the change. A change that is gone, or was never made, is no error.
	Undo(u *Undoing) error
}

// Kind is a kind of step that can be read.
type Kind struct {
	Name string // what Step.Kind says
	read func(text []byte) (Step, error)
}

// KindOf is the kind of the steps of type S.
func KindOf[S Step]() Kind {
	var zero S
	return Kind{zero.Kind(), func(text []byte) (Step, error) {
		var s S
		err := json.Unmarshal(text, &s)
		return s, err
	}}
}

// Kinds are the kinds of steps that can be read and undone.
type Kinds []Kind

// Read parses a step. A kind that is not in the list is an error: another version of tare wrote the step.
func (k Kinds) Read(text []byte) (Step, error) {
	var head struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(k, func(k Kind) bool { return k.Name == head.Kind })
	if i < 0 {
		return nil, fmt.Errorf("step of unknown kind %q, of another version of tare: %.200s", head.Kind, text)
	}
	return k[i].read(text)
}

// Text is the JSON of a step, as Read parses it.
func Text(s Step) ([]byte, error) {
	fields, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	kind, err := json.Marshal(s.Kind())
	if err != nil {
		return nil, err
	}
	text := append([]byte(`{"kind":`), kind...)
	if string(fields) != "{}" {
		text = append(text, ',')
	}
	return append(text, fields[1:]...), nil
}

// ErrNotOwn means that a step names something that is not the run's: Undo never undoes it.
var ErrNotOwn = errors.New("not tare's own")

// check is the step's Check; the error names the kind and the run.
func check(s Step, run string) error {
	err := s.Check(run)
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s step of %s: %w: %w", s.Kind(), run, ErrNotOwn, err)
}
