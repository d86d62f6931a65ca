package session

import (
	"errors"
	"time"

	"github.com/tarelab/tare/internal/wire"
)

// Joint is the freezers of a neighbour and of its arm as one.
func Joint(neighbour, arm wire.Freezer) wire.Freezer { return joint{neighbour, arm} }

type joint struct{ neighbour, arm wire.Freezer }

// twoStepFreezer can be asked first and confirmed afterwards.
type twoStepFreezer interface {
	Ask() error
	Confirm(timeout time.Duration) error
}

// Freeze asks both before it waits for either: a neighbour of little weight would
// not get the CPU time that it needs to stop beside an arm that runs on. What does
// not freeze leaves both thawed.
func (f joint) Freeze(timeout time.Duration) error {
	began := time.Now()
	remaining := func() time.Duration { return max(0, timeout-time.Since(began)) }
	its, ok := f.neighbour.(twoStepFreezer)
	own, also := f.arm.(twoStepFreezer)
	if !ok || !also {
		if err := f.neighbour.Freeze(timeout); err != nil {
			return err
		}
		return f.thawed(f.arm.Freeze(remaining()))
	}
	if err := its.Ask(); err != nil {
		return err
	}
	if err := own.Ask(); err != nil {
		return f.thawed(err)
	}
	if err := its.Confirm(remaining()); err != nil {
		return f.thawed(err)
	}
	return f.thawed(own.Confirm(remaining()))
}

// thawed takes a freeze back that did not succeed.
func (f joint) thawed(err error) error {
	if err == nil {
		return nil
	}
	return errors.Join(err, f.Thaw())
}

func (f joint) Thaw() error  { return errors.Join(f.neighbour.Thaw(), f.arm.Thaw()) }
func (f joint) Kind() string { return f.arm.Kind() }
