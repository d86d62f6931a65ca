package counter

import (
	"runtime"
	"testing"
)

func TestHeard(t *testing.T) {
	m := create(t, 1)
	s := m.Slot(0)
	m.Enter(s, 8)
	if m.InFlight() != 8 {
		t.Errorf("%d in flight", m.InFlight())
	}
	m.MarkThaw()
	now := m.Thawed() + 2000
	m.Heard(s, now, 1000)
	m.Heard(s, now, 3000)         // began before the pause
	m.Heard(s, m.Thawed()-1, 1e9) // was over before the pause
	s.HeardError()
	var got, zero Snapshot
	m.Read(&got)
	h := got.Since(&zero)
	if got.Ops != 3 || got.Cut != 1 || got.Errors != 1 || h.Total() != 2 || h.Quantile(0) > 1001e-9 || m.InFlight() != 8 {
		t.Errorf("%d operations, %d cut, %d errors, %d latencies", got.Ops, got.Cut, got.Errors, h.Total())
	}
	m.SetGate(true)
	entered := make(chan struct{})
	go func() {
		other(t, m).Enter(s, 3)
		close(entered)
	}()
	for m.InFlight() != 0 {
		runtime.Gosched()
	}
	m.SetGate(false)
	<-entered
	if m.InFlight() != 3 {
		t.Errorf("%d in flight", m.InFlight())
	}
}
