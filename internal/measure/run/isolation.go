package run

import (
	"errors"
	"slices"
	"time"

	"github.com/tarelab/tare/internal/host/enforce"
	"github.com/tarelab/tare/internal/host/isolation"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/record"
)

// isolationInForce is the isolation that is set on the processes of an instance; the zero value: none.
type isolationInForce struct {
	enforced *enforce.Enforced
	arm      string // whose isolation it is
	// revocable says that it may be undone while the processes live.
	revocable bool
}

// runningNeighbour returns the neighbour that runs beside the arm; nil: it has none, or it ended.
func (a *arm) runningNeighbour() *neighbour {
	if a.planned.Neighbour == nil {
		return nil
	}
	return a.instance.neighbour
}

// enforceIsolation puts the arm's isolation in force, or checks it where it is in force already.
// Everything on the instance is frozen. For an arm whose neighbour stays frozen it undoes the isolation
// of other arms: that may bind the arm too, as a split of the CPUs does.
func (a *arm) enforceIsolation() error {
	s := a.instance
	if a.runningNeighbour() == nil {
		return s.undoIsolation()
	}
	if s.inForce.enforced != nil && s.inForce.arm == a.planned.Name {
		if _, err := s.inForce.enforced.Check(); err != nil {
			return errors.Join(err, s.undoIsolation()) // the next window sets it again
		}
		return nil
	}
	if err := s.undoIsolation(); err != nil {
		return err
	}
	e, err := enforce.Set(s.sides(), a.planned.Isolation)
	if err != nil {
		return err
	}
	needsStart := func(x isolation.Settings) bool { return !x.Live }
	s.inForce = isolationInForce{enforced: e, arm: a.planned.Name, revocable: !slices.ContainsFunc(a.planned.Isolation, needsStart)}
	return nil
}

// isolationSettings puts the arm's isolation in force and reads it back.
func (a *arm) isolationSettings() ([]record.Setting, error) {
	if err := a.enforceIsolation(); err != nil {
		return nil, err
	}
	if f := a.instance.inForce; f.enforced != nil && f.arm == a.planned.Name {
		return f.enforced.Check()
	}
	return nil, nil
}

// undoIsolation takes back what is in force on the instance.
func (s *instance) undoIsolation() error {
	e := s.inForce.enforced
	s.inForce = isolationInForce{}
	if e == nil {
		return nil
	}
	return e.Undo()
}

// sides are the control groups that isolation is set on.
func (s *instance) sides() enforce.Sides {
	return enforce.Sides{Neighbour: s.neighbour.process.Group, Arm: []cgroup.Group{s.processes.Place.Group, s.processes.Place.OutsideGroup}}
}

// isolationFreezer freezes an instance. The kernel's freezer stops a task only when it returns to user
// mode, and isolation may keep a task from the CPU for long on a busy host. If the freeze takes
// longer than starvedTimeout, it undoes the isolation; the next window sets it again.
type isolationFreezer struct {
	wire.Freezer
	instance *instance
}

// starvedTimeout is how long isolation stays in force while tasks do not freeze.
const starvedTimeout = 100 * time.Millisecond

func (f isolationFreezer) Freeze(timeout time.Duration) error {
	if f.instance.inForce.enforced == nil || !f.instance.inForce.revocable {
		return f.Freezer.Freeze(timeout)
	}
	err := f.Freezer.Freeze(starvedTimeout)
	if !errors.Is(err, wire.ErrNotFrozen) {
		return err
	}
	return errors.Join(f.instance.undoIsolation(), f.Freezer.Freeze(timeout-starvedTimeout))
}
