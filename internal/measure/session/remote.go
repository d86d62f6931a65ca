package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tarelab/tare/internal/host/probe"
	"github.com/tarelab/tare/internal/linux/sched"
	"github.com/tarelab/tare/internal/linux/storage"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/record"
)

// remote is a session of processes where tare is not: the window is cut there, and what
// is here of the counters is no more than the state of the load. Between windows the
// load waits at its gate.
type remote struct {
	*Processes
	probes *probe.Set
	paused bool
}

// Settle is over when it returns. Several loads at once could keep their node so busy
// that nobody there hears that they are to stop; and the pod's first process stops this
// one without being told.
func (s *remote) Settle(ctx context.Context, d time.Duration) (time.Duration, error) {
	_, err := s.Place.Remote.Measure(ctx, wire.WindowSpec{Seed: 1, Length: d, Tick: d})
	return 0, err
}

func (s *remote) Observe(probes []probe.Probe) {
	s.probes = probe.Unread(probes, "it is read where the load is")
}

func (s *remote) Metrics() []probe.Metric { return s.probes.Metrics() }

func (s *remote) Measure(ctx context.Context, w wire.WindowSpec) (out wire.Sample, err error) {
	began := sched.Monotonic()
	if w.Neighbour {
		out, err = s.beside(ctx, w)
	} else {
		out, err = s.Place.Remote.Measure(ctx, w)
	}
	out.Thawing = max(0, time.Duration(sched.Monotonic()-began)-out.Ran-out.Pausing) // on the way
	return out, err
}

// beside measures with the neighbour, which is let go before and stopped after. What
// that does is read in its own pod, in the same window but for the difference of the
// two ways there.
func (s *remote) beside(ctx context.Context, w wire.WindowSpec) (wire.Sample, error) {
	n := s.Neighbour
	if n == nil {
		return wire.Sample{}, ErrNoNeighbour
	}
	if err := n.Pause.Thaw(); err != nil {
		return wire.Sample{}, fmt.Errorf("let the neighbour go: %w", err)
	}
	type watched struct {
		wire.Sample
		err error
	}
	seen := make(chan watched, 1)
	if w.Asked || w.Tick > 0 {
		seen <- watched{}
	} else {
		go func() {
			sample, err := n.Remote.Watch(ctx, w)
			seen <- watched{sample, err}
		}()
	}
	out, err := s.Place.Remote.Measure(ctx, w)
	its := <-seen
	if its.Probes != nil {
		out.Neighbour = &wire.NeighbourSample{Ops: its.Ops, Probes: its.Probes}
	}
	if err == nil && n.Ended() == nil {
		err = its.err
	}
	return out, errors.Join(err, n.Stop())
}

// Pause closes the gate of the load there.
func (s *remote) Pause() error {
	if s.paused {
		return nil
	}
	err := s.Place.Remote.Pause()
	s.paused = err == nil
	return err
}

func (s *remote) PausePatiently() error            { return Patiently(s.Pause) }
func (s *remote) Paused() bool                     { return s.paused }
func (s *remote) Method() string                   { return byStream }
func (s *remote) Facts() ([]record.Setting, error) { return nil, nil }
func (s *remote) Data() (Data, error)              { return Data{Elsewhere: true}, nil }

func (s *remote) Try(ctx context.Context) (storage.Trial, storage.Facts, error) {
	return s.Place.Remote.Try(ctx)
}

func (s *remote) Close() error {
	if s.probes == nil {
		return nil
	}
	return s.probes.Close()
}
