package journal

import (
	"errors"
	"reflect"
	"time"
)

// Undoing is one call of Undo. Its steps share it.
type Undoing struct {
	Run string
	// Round is 1, or 2 for a step that failed in the first.
	Round int
	// Late is the time until which a daemon may still carry out a request of the killed run. At
	// that time a step that undoes a daemon's work looks once more.
	Late time.Time
	// StartUnknown says that the journal may be of an earlier boot of this machine.
	StartUnknown bool

	shared map[reflect.Type]any
	token  Token            // of the step that is being undone
	atEnd  map[Token]func() // see AtEnd
}

// Shared is the value of type T that all steps of an undoing share. At first it is the zero
// value.
func Shared[T any](u *Undoing) *T {
	if u.shared == nil {
		u.shared = map[reflect.Type]any{}
	}
	key := reflect.TypeFor[T]()
	if u.shared[key] == nil {
		u.shared[key] = new(T)
	}
	return u.shared[key].(*T)
}

// AtEnd makes Undo call f after all steps were tried. It calls the f of the newest step first.
func (u *Undoing) AtEnd(f func()) {
	if u.atEnd == nil {
		u.atEnd = map[Token]func(){}
	}
	u.atEnd[u.token] = f
}

// Stays marks the error of a step that must not be tried again in this call of Undo: the change cannot
// be undone for a while, and the step has waited long enough.
func Stays(err error) error { return &stays{err} }

type stays struct{ error }

func (s *stays) Unwrap() error { return s.error }

// staying says whether an error is marked by Stays.
func staying(err error) bool { return errors.As(err, new(*stays)) }
