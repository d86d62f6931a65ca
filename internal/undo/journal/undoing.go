package journal

import (
	"errors"
	"reflect"
	"time"
)

// Undoing is one undoing of a journal. Its steps share it.
type Undoing struct {
	Run string
	// Round is 1, or 2 for a step that failed in the first.
	Round int
	// Late is until when a daemon may still make what the killed run asked it for: whoever
	// asked a daemon looks again then.
	Late time.Time
	// StartUnknown says that the journal may be of an earlier start of this machine.
	StartUnknown bool

	shared map[reflect.Type]any
	token  Token // of the step that is being undone
	last   map[Token]func()
}

// Shared is the value of a type that all steps of an undoing share. It begins as the zero value.
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

// AtEnd has f called when every step was tried, the newest step's first.
func (u *Undoing) AtEnd(f func()) {
	if u.last == nil {
		u.last = map[Token]func(){}
	}
	u.last[u.token] = f
}

// Stays marks the error of a step that is not tried again in this undoing: the change stays
// for a while, and Undo has waited long enough.
func Stays(err error) error { return &stays{err} }

type stays struct{ error }

func (s *stays) Unwrap() error { return s.error }

func staying(err error) bool { return errors.As(err, new(*stays)) }
