// Package hint attaches a remedy to an error: one line that names the flag, file or command to use.
// cli prints it below the error. The package must not know what the errors are about.
package hint

import "errors"

type hinted struct {
	error
	remedy string
}

func (h *hinted) Unwrap() error { return h.error }

// New attaches a remedy to an error; nil stays nil.
func New(err error, remedy string) error {
	if err == nil || remedy == "" {
		return err
	}
	return &hinted{err, remedy}
}

// Of returns the outermost remedy attached to an error, or "".
func Of(err error) string {
	var h *hinted
	if errors.As(err, &h) {
		return h.remedy
	}
	return ""
}
