package run

import (
	"errors"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/host/enforce"
	"github.com/tarelab/tare/internal/measure/session"
	"github.com/tarelab/tare/internal/wire"
)

// starving is a freezer that fails as long as isolation is in force.
type starving struct {
	on    *instance
	asked []time.Duration
}

func (f *starving) Freeze(timeout time.Duration) error {
	f.asked = append(f.asked, timeout)
	if f.on.inForce.enforced != nil {
		return wire.ErrNotFrozen
	}
	return nil
}

func (f *starving) Ask() error                  { return nil }
func (f *starving) Confirm(time.Duration) error { return nil }
func (f *starving) Thaw() error                 { return nil }
func (f *starving) Kind() string                { return "test" }

// If isolation keeps a neighbour from freezing, it is undone, provided that it is revocable, and
// the neighbour has the rest of the time to freeze.
func TestFreezeOfTheStarved(t *testing.T) {
	s := &instance{inForce: isolationInForce{enforced: &enforce.Enforced{}, arm: "idle", revocable: true}}
	f := &starving{on: s}
	freeze := func() error { return isolationFreezer{f, s}.Freeze(session.FreezeTimeout) }
	if err := freeze(); err != nil || s.inForce.enforced != nil || s.inForce.arm != "" {
		t.Errorf("%v; in force: %v for %q", err, s.inForce.enforced != nil, s.inForce.arm)
	}
	if len(f.asked) != 2 || f.asked[0]+f.asked[1] != session.FreezeTimeout {
		t.Errorf("asked to freeze within %v", f.asked)
	}
	s.inForce, f.asked = isolationInForce{enforced: &enforce.Enforced{}, arm: "qos"}, nil
	if err := freeze(); !errors.Is(err, wire.ErrNotFrozen) || s.inForce.enforced == nil || s.inForce.arm != "qos" {
		t.Errorf("what must not be taken back: %v; in force: %v for %q", err, s.inForce.enforced != nil, s.inForce.arm)
	}
	if len(f.asked) != 1 || f.asked[0] != session.FreezeTimeout {
		t.Errorf("asked to freeze within %v", f.asked)
	}
}
