package run

import (
	"errors"
	"time"

	"github.com/tarelab/tare/internal/environment"
)

// both are the freezers of a neighbour and of its arm as one.
type both struct{ neighbour, arm environment.Freezer }

// asked is a freezer that can be asked first and confirmed afterwards.
type asked interface {
	Ask() error
	Confirm(timeout time.Duration) error
}

// Freeze asks both before it waits for either: a neighbour of little weight would
// not get the CPU time that it needs to stop beside an arm that runs on. What does
// not freeze leaves both thawed.
func (f both) Freeze(timeout time.Duration) error {
	began := time.Now()
	left := func() time.Duration { return max(0, timeout-time.Since(began)) }
	its, ok := f.neighbour.(asked)
	own, also := f.arm.(asked)
	if !ok || !also {
		if err := f.neighbour.Freeze(timeout); err != nil {
			return err
		}
		return f.thawed(f.arm.Freeze(left()))
	}
	if err := its.Ask(); err != nil {
		return err
	}
	if err := own.Ask(); err != nil {
		return f.thawed(err)
	}
	if err := its.Confirm(left()); err != nil {
		return f.thawed(err)
	}
	return f.thawed(own.Confirm(left()))
}

// thawed takes a freeze back that did not succeed.
func (f both) thawed(err error) error {
	if err == nil {
		return nil
	}
	return errors.Join(err, f.Thaw())
}

func (f both) Thaw() error  { return errors.Join(f.neighbour.Thaw(), f.arm.Thaw()) }
func (f both) Kind() string { return f.arm.Kind() }
