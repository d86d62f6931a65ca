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
	// Late is the moment until which a daemon may still do what the killed run asked for. A
	// step that asked a daemon looks again then.
	Late time.Time
	// StartUnknown says that the journal may be of an earlier boot of this machine.
	StartUnknown bool

	shared map[reflect.Type]any
	token  Token // of the step that is being undone
	last   map[Token]func()
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

// AtEnd calls f after every step was tried; the f of the newest step runs first.
func (u *Undoing) AtEnd(f func()) {
	if u.last == nil {
		u.last = map[Token]func(){}
	}
	u.last[u.token] = f
}

// Stays marks the error of a step that need not be tried again: the change stays for a while,
// and the step has waited long enough.
func Stays(err error) error { return &stays{err} }

type stays struct{ error }

func (s *stays) Unwrap() error { return s.error }

func staying(err error) bool { return errors.As(err, new(*stays)) }
