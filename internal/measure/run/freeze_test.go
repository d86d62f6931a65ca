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
	on    *site
	asked []time.Duration
}

func (f *starving) Freeze(timeout time.Duration) error {
	f.asked = append(f.asked, timeout)
	if f.on.enforced != nil {
		return wire.ErrNotFrozen
	}
	return nil
}

func (f *starving) Ask() error                  { return nil }
func (f *starving) Confirm(time.Duration) error { return nil }
func (f *starving) Thaw() error                 { return nil }
func (f *starving) Kind() string                { return "test" }

// A neighbour that is held back so far that it does not stop gets its isolation
// taken back, if that may be, and has the rest of the time to stop.
func TestFreezeOfTheStarved(t *testing.T) {
	s := &site{enforced: &enforce.Enforced{}, holder: "idle", lifts: true}
	f := &starving{on: s}
	freeze := func() error { return yielding{f, s}.Freeze(session.FreezeTimeout) }
	if err := freeze(); err != nil || s.enforced != nil || s.holder != "" {
		t.Errorf("%v; in force: %v for %q", err, s.enforced != nil, s.holder)
	}
	if len(f.asked) != 2 || f.asked[0]+f.asked[1] != session.FreezeTimeout {
		t.Errorf("asked to freeze within %v", f.asked)
	}
	s.enforced, s.holder, s.lifts, f.asked = &enforce.Enforced{}, "qos", false, nil
	if err := freeze(); !errors.Is(err, wire.ErrNotFrozen) || s.enforced == nil || s.holder != "qos" {
		t.Errorf("what must not be taken back: %v; in force: %v for %q", err, s.enforced != nil, s.holder)
	}
	if len(f.asked) != 1 || f.asked[0] != session.FreezeTimeout {
		t.Errorf("asked to freeze within %v", f.asked)
	}
}
