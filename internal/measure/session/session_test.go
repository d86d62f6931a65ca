package session_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/host/probe"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/storage"
	"github.com/tarelab/tare/internal/measure/session"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/internal/wire/counter"
	"github.com/tarelab/tare/record"
)

// load counts one operation after the other and waits only at its gate, first when it is ready.
func load(t *testing.T) *counter.Memory {
	t.Helper()
	m, err := counter.Create(1)
	if err != nil {
		t.Fatal(err)
	}
	m.HoldWhenReady()
	over := make(chan struct{})
	go func() {
		defer close(over)
		m.SetReady()
		for s := m.Slot(0); !m.Stopped(); {
			start := m.Begin(s)
			time.Sleep(time.Millisecond)
			m.End(s, start, nil)
		}
	}()
	t.Cleanup(func() {
		m.Stop()
		m.SetGate(false)
		<-over
		m.Close()
	})
	for state, _ := m.State(); state != counter.Ready; state, _ = m.State() {
		time.Sleep(time.Millisecond)
	}
	return m
}

func runs() error { return nil }

// heard lists calls in order.
type heard struct {
	mu   sync.Mutex
	said []string
}

func (h *heard) say(what string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.said = append(h.said, what)
}

// freezer records its calls. Freeze returns err, Thaw returns thaw.
type freezer struct {
	*heard
	name string
	err  error
	thaw error
}

func (f *freezer) Freeze(time.Duration) error  { f.say("freeze " + f.name); return f.err }
func (f *freezer) Ask() error                  { return nil }
func (f *freezer) Confirm(time.Duration) error { return nil }
func (f *freezer) Thaw() error                 { f.say("thaw " + f.name); return f.thaw }
func (f *freezer) Kind() string                { return "freezer of a test" }

var spec = wire.WindowSpec{Discard: 5 * time.Millisecond, Length: 50 * time.Millisecond}

// A load without a freezer is paused by its gate: it does nothing before it settles, between windows and
// after them.
func TestByTheGate(t *testing.T) {
	m := load(t)
	s := session.Open(&session.Processes{Memory: m, Ended: runs})
	if s.Method() != "load" || session.Frozen(s.Method()) {
		t.Errorf("paused by %q", s.Method())
	}
	idle := func(when string) {
		t.Helper()
		before := m.Ops()
		if time.Sleep(20 * time.Millisecond); m.Ops() != before || m.InFlight() != 0 {
			t.Errorf("%s: %d operations, then %d", when, before, m.Ops())
		}
	}
	idle("before it settles")
	left, err := s.Settle(t.Context(), time.Second)
	if err != nil || left != time.Second {
		t.Fatalf("%v left, %v", left, err)
	}
	if err := s.Pause(); err != nil || !s.Paused() {
		t.Fatal(err)
	}
	s.Observe(nil)
	for range 2 {
		seen, err := s.Measure(t.Context(), spec)
		if err != nil || seen.Ops == 0 || seen.Seconds < 0.05 || seen.Ran < spec.Discard+spec.Length || seen.Start == 0 {
			t.Errorf("%v %+v", err, seen)
		}
		if seen.SelfWall.Seconds() < 0.05 || seen.Self <= 0 || seen.Pausing <= 0 || seen.Neighbour != nil {
			t.Errorf("%+v", seen)
		}
		idle("after a window")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if seen, err := s.Measure(ctx, spec); !errors.Is(err, context.Canceled) || seen.Probes != nil || !s.Paused() {
		t.Errorf("given up: %v %+v", err, seen)
	}
}

// With a freezer the gate is open. A window with a neighbour thaws it. All are frozen after the window, and
// a failed freeze is no pause.
func TestByTheFreezer(t *testing.T) {
	h := &heard{}
	all, alone := &freezer{heard: h, name: "all"}, &freezer{heard: h, name: "alone"}
	beside := &session.Neighbour{Memory: load(t), Group: cgroup.Group{}, Probes: probe.OpenAll(nil, probe.Target{}), Ended: runs}
	m := load(t)
	p := &session.Processes{Memory: m, Ended: runs, Neighbour: beside, Freezer: all, Alone: alone}
	s := session.Open(p)
	if err := s.Pause(); err != nil || !session.Frozen(s.Method()) {
		t.Fatal(err)
	}
	s.Observe(nil)
	before := beside.Memory.Ops()
	beside.Memory.SetGate(false)
	with := spec
	with.Neighbour = true
	seen, err := s.Measure(t.Context(), with)
	if err != nil || seen.Ops == 0 || seen.Neighbour == nil || seen.Neighbour.Ops == 0 || seen.Neighbour.Ops > beside.Memory.Ops()-before {
		t.Errorf("%v %+v", err, seen)
	}
	if seen, err := s.Measure(t.Context(), spec); err != nil || seen.Neighbour != nil {
		t.Errorf("%v %+v", err, seen)
	}
	all.err = wire.ErrNotFrozen
	if seen, err := s.Measure(t.Context(), spec); !errors.Is(err, wire.ErrNotFrozen) || seen.Ops == 0 || s.Paused() {
		t.Errorf("not frozen: %v %+v", err, seen)
	}
	p.Neighbour = nil // it ended
	all.err = nil
	if err := s.PausePatiently(); err != nil || !s.Paused() {
		t.Error(err)
	}
	if _, err := s.Measure(t.Context(), spec); err != nil {
		t.Error(err)
	}
	want := []string{
		"freeze all", "thaw all", "freeze all", "thaw alone", "freeze all", "thaw alone", "freeze all",
		"freeze all", "thaw all", "freeze all",
	}
	if !slices.Equal(h.said, want) {
		t.Errorf("%q", h.said)
	}
}

// After a thaw that failed some groups may run: all are frozen again, so that the arm does not run during
// the windows of other arms.
func TestThawThatFails(t *testing.T) {
	h := &heard{}
	f := &freezer{heard: h, name: "all"}
	s := session.Open(&session.Processes{Memory: load(t), Ended: runs, Freezer: f})
	if err := s.Pause(); err != nil {
		t.Fatal(err)
	}
	s.Observe(nil)
	f.thaw = errors.New("the group is gone")
	if _, err := s.Measure(t.Context(), spec); !errors.Is(err, f.thaw) || !s.Paused() {
		t.Errorf("%v, paused: %v", err, s.Paused())
	}
	if want := []string{"freeze all", "thaw all", "freeze all"}; !slices.Equal(h.said, want) {
		t.Errorf("%q", h.said)
	}
	f.err = wire.ErrNotFrozen
	if _, err := s.Measure(t.Context(), spec); !errors.Is(err, f.err) || s.Paused() {
		t.Errorf("%v, paused: %v", err, s.Paused())
	}
}

// far is a Remote that records its calls.
type far struct {
	*heard
	name string
	err  error // of Watch
}

func (f *far) Gate(bool) error { f.say("gate " + f.name); return nil }
func (f *far) Pause() error    { f.say("pause " + f.name); return nil }

func (f *far) Measure(_ context.Context, w wire.WindowSpec) (wire.Sample, error) {
	time.Sleep(20 * time.Millisecond) // so that Watch is asked meanwhile
	f.say("measure " + f.name)
	return wire.Sample{Ops: 7, Ran: w.Length}, nil
}

func (f *far) Watch(context.Context, wire.WindowSpec) (wire.Sample, error) {
	f.say("watch " + f.name)
	return wire.Sample{Ops: 3, Probes: map[string]record.Value{record.NeighbourCPU: record.Number(2)}}, f.err
}

// A remote neighbour is thawed before the window and stopped after it.
func TestElsewhere(t *testing.T) {
	h := &heard{}
	arms, its, stops := &far{heard: h, name: "arm"}, &far{heard: h, name: "neighbour"}, &freezer{heard: h, name: "neighbour"}
	ended := error(nil)
	p := &session.Processes{Ended: runs, Place: wire.Place{Remote: arms}}
	s := session.Open(p)
	if left, err := s.Settle(t.Context(), time.Second); err != nil || left != 0 {
		t.Errorf("%v left, %v", left, err)
	}
	s.Observe(nil)
	if err := errors.Join(s.Pause(), s.Pause()); err != nil || !s.Paused() || session.Frozen(s.Method()) {
		t.Error(err)
	}
	with := spec
	with.Neighbour = true
	if _, err := s.Measure(t.Context(), with); !errors.Is(err, session.ErrNoNeighbour) {
		t.Error(err)
	}
	p.Neighbour = &session.Neighbour{Remote: its, Pause: stops, Ended: func() error { return ended }}
	if seen, err := s.Measure(t.Context(), with); err != nil || seen.Ops != 7 || seen.Neighbour.Ops != 3 || len(seen.Neighbour.Probes) != 1 {
		t.Errorf("%v %+v", err, seen)
	}
	traced := with
	traced.Tick = time.Millisecond
	if seen, err := s.Measure(t.Context(), traced); err != nil || seen.Neighbour != nil {
		t.Errorf("nobody looks at the neighbour of a traced window: %v %+v", err, seen)
	}
	its.err = errors.New("nobody answers")
	if _, err := s.Measure(t.Context(), with); !errors.Is(err, its.err) {
		t.Errorf("what the neighbour did is not known: %v", err)
	}
	ended = errors.New("ended")
	stops.err = wire.ErrNotFrozen
	if _, err := s.Measure(t.Context(), with); err != nil {
		t.Errorf("a neighbour that ended is the window's trouble and not its error: %v", err)
	}
	want := []string{"measure arm", "pause arm", "thaw neighbour", "watch neighbour", "measure arm", "freeze neighbour"}
	if len(h.said) < len(want) || !slices.Equal(h.said[:len(want)], want) {
		t.Errorf("%q", h.said)
	}
	if _, _, err := s.Try(t.Context()); err == nil {
		t.Error("the trial's error is lost")
	}
}

func (*far) Try(context.Context) (storage.Trial, storage.Facts, error) {
	return storage.Trial{}, storage.Facts{}, errors.New("denied")
}
