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

// remote is a session of processes on a node where tare is not. The agent there cuts the
// windows; of the counters tare has only the state of the load. Between windows the load
// waits at its gate.
type remote struct {
	*Processes
	probes *probe.Set
	paused bool
}

// Settle waits for the whole time: several loads that settle at once could keep their node so
// busy that their agents do not get the CPU to stop them. The agent stops this load by itself.
func (s *remote) Settle(ctx context.Context, d time.Duration) (time.Duration, error) {
	_, err := s.Place.Remote.Measure(ctx, wire.WindowSpec{Seed: 1, Length: d, Tick: d})
	return 0, err
}

func (s *remote) Observe(probes []probe.Probe) {
	s.probes = probe.Unread(probes, record.Say("read_at_load"))
}

func (s *remote) Metrics() []probe.Metric { return s.probes.Metrics() }

func (s *remote) Measure(ctx context.Context, w wire.WindowSpec) (out wire.Sample, err error) {
	began := sched.Monotonic()
	if w.Neighbour {
		out, err = s.beside(ctx, w)
	} else {
		out, err = s.Place.Remote.Measure(ctx, w)
	}
	out.Thawing = max(0, time.Duration(sched.Monotonic()-began)-out.Ran-out.Pausing) // mostly the round trip
	return out, err
}

// beside measures with the neighbour, which runs from before the window until after it. Its
// probes are read in its own pod.
func (s *remote) beside(ctx context.Context, w wire.WindowSpec) (wire.Sample, error) {
	n := s.Neighbour
	if n == nil {
		return wire.Sample{}, ErrNoNeighbour
	}
	if err := n.Pause.Thaw(); err != nil {
		return wire.Sample{}, fmt.Errorf("thaw the neighbour: %w", err)
	}
	out, seen, watchErr, err := wire.MeasureBeside(ctx, s.Place.Remote, n.Remote, w)
	if seen.Probes != nil {
		out.Neighbour = &wire.NeighbourSample{Ops: seen.Ops, Probes: seen.Probes}
	}
	if err == nil && n.Ended() == nil {
		err = watchErr
	}
	return out, errors.Join(err, n.Stop())
}

// Pause closes the load's gate.
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

func (s *remote) DrawPlacement() error { return errNotStopped }
func (s *remote) KeepPlacement() error { return nil }

func (s *remote) Close() error {
	if s.probes == nil {
		return nil
	}
	return s.probes.Close()
}
