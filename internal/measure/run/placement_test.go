package run

import (
	"errors"
	"testing"

	"github.com/tarelab/tare/internal/measure/session"
)

// placing is a session that draws placements unless it may not.
type placing struct {
	session.Session
	err   error
	draws bool
}

func (p *placing) DrawPlacement() error { p.draws = p.err == nil; return p.err }
func (p *placing) KeepPlacement() error { p.draws = false; return nil }

// All arms draw placements or none does.
func TestDrawPlacements(t *testing.T) {
	for _, why := range []error{nil, errors.New("operation not permitted")} {
		first, last := &placing{}, &placing{err: why}
		l := &loadRun{}
		l.instances.all = []*instance{{session: first}, {session: last}}
		drawn, err := l.drawPlacements()
		if want := why == nil; err != nil || drawn != want || first.draws != want || last.draws != want {
			t.Errorf("%v: %v %v: %v %v", why, drawn, err, first.draws, last.draws)
		}
	}
}
