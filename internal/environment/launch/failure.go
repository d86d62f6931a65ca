package launch

import (
	"errors"
	"syscall"
)

// failure is an error on its way from the child to the parent: its text, and
// the error number in it, so that errors.Is works on the other side.
type failure struct {
	Text  string        `json:"error"`
	Errno syscall.Errno `json:"errno,omitempty"`
}

func failureOf(err error) *failure {
	f := &failure{Text: err.Error()}
	errors.As(err, &f.Errno)
	return f
}

func (f *failure) Error() string { return f.Text }

func (f *failure) Unwrap() error {
	if f.Errno == 0 {
		return nil
	}
	return f.Errno
}
