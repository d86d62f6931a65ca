package session

import (
	"errors"
	"time"

	"github.com/tarelab/tare/internal/wire"
)

// Joint freezes a neighbour and its arm together.
func Joint(neighbour, arm wire.Freezer) wire.Freezer { return joint{neighbour, arm} }

type joint struct{ neighbour, arm wire.Freezer }

// Freeze asks both before it waits for either: beside an arm that runs on, a neighbour of low
// weight would not get the CPU time that it needs to stop. On an error both are thawed.
func (f joint) Freeze(timeout time.Duration) error {
	if err := f.Ask(); err != nil {
		return err
	}
	return f.Confirm(timeout)
}

func (f joint) Ask() error {
	if err := f.neighbour.Ask(); err != nil {
		return err
	}
	return f.thawOn(f.arm.Ask())
}

func (f joint) Confirm(timeout time.Duration) error {
	began := time.Now()
	if err := f.neighbour.Confirm(timeout); err != nil {
		return f.thawOn(err)
	}
	return f.thawOn(f.arm.Confirm(max(0, timeout-time.Since(began))))
}

// thawOn thaws both if a freeze failed.
func (f joint) thawOn(err error) error {
	if err == nil {
		return nil
	}
	return errors.Join(err, f.Thaw())
}

func (f joint) Thaw() error  { return errors.Join(f.neighbour.Thaw(), f.arm.Thaw()) }
func (f joint) Kind() string { return f.arm.Kind() }
