package journal

import (
	"errors"
	"slices"
	"sync"
)

// Record writes a step and syncs it. Make the change after Record has returned without an
// error. undo calls back to undo the change and, if that succeeds, notes the step as done.
func (j *Journal) Record(s Step, back func() error) (undo func() error, err error) {
	token, err := j.Add(s)
	if err != nil {
		return nil, err
	}
	return func() error {
		if err := back(); err != nil {
			return err
		}
		return j.Done(token)
	}, nil
}

// UndoStack has the undo functions of a part of a run. It is safe for concurrent use.
type UndoStack struct {
	mu   sync.Mutex
	undo []func() error // oldest first
}

// Record writes a step as Journal.Record does, and pushes its undo.
func (s *UndoStack) Record(j *Journal, step Step, back func() error) error {
	undo, err := j.Record(step, back)
	if err == nil {
		s.Push(undo)
	}
	return err
}

// Push adds an undo function. Undo runs it before those that were added earlier.
func (s *UndoStack) Push(undo func() error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.undo = append(s.undo, undo)
}

// Undo runs all undo functions, the newest first, and goes on after errors. It empties the stack.
func (s *UndoStack) Undo() error {
	s.mu.Lock()
	undo := s.undo
	s.undo = nil
	s.mu.Unlock()
	var errs []error
	for _, f := range slices.Backward(undo) {
		errs = append(errs, f())
	}
	return errors.Join(errs...)
}
