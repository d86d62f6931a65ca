package journal

import (
	"encoding/json"
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

// Read parses a step. A step of a kind that is not in the list is returned too; its Check
// fails.
func (k Kinds) Read(text []byte) (Step, error) {
	var head struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(k, func(k Kind) bool { return k.Name == head.Kind })
	if i < 0 {
		u := unread{kind: head.Kind}
		_ = json.Unmarshal(text, &u) // a newer version may use these names for other types
		return u, nil
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

// unread is a step of a kind that is not in the list, with the fields that most kinds have.
type unread struct {
	kind string
	Path string `json:"path,omitempty"`
	ID   string `json:"id,omitempty"`
}

func (u unread) Kind() string   { return u.kind }
func (u unread) String() string { return u.kind + " " + u.Path + u.ID }
func (u unread) Lasts() bool    { return true }

func (u unread) Check(string) error {
	return fmt.Errorf("step of unknown kind %q: written by a newer tare? clean up with that one", u.kind)
}

func (u unread) Undo(g *Undoing) error { return u.Check(g.Run) }

// check is the step's Check; the error names the kind and the run.
func check(s Step, run string) error {
	err := s.Check(run)
	if _, unknown := s.(unread); unknown || err == nil {
		return err
	}
	return fmt.Errorf("%s step of %s: not tare's own: %w", s.Kind(), run, err)
}
