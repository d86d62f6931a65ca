package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/host/durability"
	"github.com/tarelab/tare/internal/host/probe"
	"github.com/tarelab/tare/internal/host/window"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/linux/sched"
	"github.com/tarelab/tare/internal/linux/storage"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/record"
)

// local is a session of processes on this host. tare reads their counters in shared memory.
type local struct {
	*Processes
	probes *probe.Set
	load   window.Load
	paused bool
	placed *placement // nil: threads go on where they stopped
}

func (s *local) Settle(_ context.Context, d time.Duration) (time.Duration, error) {
	s.Memory.SetGate(false)
	return d, nil
}

func (s *local) Observe(probes []probe.Probe) {
	s.probes = probe.OpenAll(probes, s.target())
	s.load = window.Load{Memory: s.Memory, Probes: s.probes, Opened: s.readNeighbourOpening, Closing: s.readNeighbourClosing}
}

func (s *local) Metrics() []probe.Metric { return s.probes.Metrics() }

func (s *local) readNeighbourOpening() {
	if s.Neighbour != nil {
		s.Neighbour.open()
	}
}

func (s *local) readNeighbourClosing() {
	if s.Neighbour != nil {
		s.Neighbour.shut()
	}
}

func (s *local) Measure(ctx context.Context, w wire.WindowSpec) (wire.Sample, error) {
	began := sched.Monotonic()
	if err := s.resume(w); err != nil {
		return wire.Sample{}, fmt.Errorf("thaw: %w", err)
	}
	thawing := time.Duration(sched.Monotonic() - began)
	if err := s.placed.hold(); err != nil {
		return wire.Sample{}, errors.Join(err, s.PausePatiently())
	}
	s.load.Ended = func() error { return cmp.Or(ctx.Err(), s.Ended()) }
	out, err := s.load.Cut(w)
	out.Thawing = thawing
	pause := s.Pause
	if w.Tick > 0 {
		pause = s.PausePatiently // the pilot's trace: a failed pause would end the run
	}
	began = sched.Monotonic()
	err = errors.Join(err, pause())
	out.Pausing = time.Duration(sched.Monotonic() - began)
	s.load.Fill(&out)
	if s.Neighbour != nil && w.Neighbour {
		out.Neighbour = s.Neighbour.sample()
	}
	return out, err
}

// resume marks the thaw in the counters, so that the load can tell operations that began before the
// pause from later ones, and thaws the processes of the window.
func (s *local) resume(w wire.WindowSpec) error {
	s.load.Announce(w)
	s.paused = false // before the thaw: also a failed one may have thawed some groups
	if err := s.placed.draw(w.Seed); err != nil {
		return err
	}
	if f := s.freezer(w); f == nil {
		s.Memory.SetGate(false)
	} else if err := f.Thaw(); err != nil {
		return errors.Join(err, s.placed.release(), s.PausePatiently())
	}
	return nil
}

// freezer returns the freezer of the processes that run in the window. Without w.Neighbour the neighbour
// stays frozen. nil: the load pauses itself at its gate.
func (s *local) freezer(w wire.WindowSpec) wire.Freezer {
	if s.Neighbour != nil && !w.Neighbour {
		return s.Alone
	}
	return s.Freezer
}

// Pause freezes the processes if there is a freezer, and then opens the load's gate, so that a thaw alone
// lets the load run. Without a freezer it closes the gate and waits for operations in flight.
func (s *local) Pause() error {
	if s.paused {
		return nil
	}
	if f := s.Freezer; f == nil {
		window.Pause(s.Memory)
	} else if err := f.Freeze(FreezeTimeout); err != nil {
		return err
	} else {
		s.Memory.SetGate(false)
	}
	s.paused = true
	return nil
}

func (s *local) PausePatiently() error { return Patiently(s.Pause) }
func (s *local) Paused() bool          { return s.paused }

func (s *local) Method() string {
	if s.Freezer == nil {
		return byLoad
	}
	return s.Freezer.Kind()
}

// target returns the processes and groups that the probes observe.
func (s *local) target() probe.Target {
	t := probe.Target{
		Root: "/", Group: s.Place.Group, Outside: s.Place.OutsideGroup, Host: true,
		Forwarders: s.Place.Forwarders, Data: cmp.Or(s.Place.HostVolume, s.Place.Volume),
	}
	if s.Neighbour != nil {
		t.Neighbour = s.Neighbour.Group
	}
	if s.Place.Sandboxed {
		return t // the process that was started only waits for the sandbox: probes read the groups
	}
	for _, p := range s.Running {
		t.Pids = append(t.Pids, p.Pid())
	}
	return t
}

func (s *local) Facts() ([]record.Setting, error) { return probe.Facts(s.target()) }

func (s *local) Data() (Data, error) {
	dir := cmp.Or(s.Place.HostVolume, s.Place.Volume)
	f, err := storage.Of("/", dir)
	if err != nil {
		return Data{}, err
	}
	d := Data{Facts: f, Settings: f.Settings()}
	if s.Place.Sandboxed {
		return d, nil
	}
	seen, err := storage.Seen(proc.FS("/"), s.Running[0].Pid(), s.Place.Volume)
	if err != nil {
		return Data{}, err
	}
	if seen.Type != f.Mount.Type {
		d.Settings = append(d.Settings, record.Setting{Name: "volume.seen", Got: seen.Type})
	}
	d.Volatile = slices.Contains(strings.Split(seen.Options+","+seen.Super, ","), "volatile")
	return d, nil
}

// Try writes to the data directory as the arm sees it, through /proc/PID/root: an overlay in the arm may
// ignore syncs.
func (s *local) Try(ctx context.Context) (storage.Trial, storage.Facts, error) {
	d, err := s.Data()
	if err != nil {
		return storage.Trial{}, storage.Facts{}, err
	}
	dir := s.Place.HostVolume
	if !s.Place.Sandboxed {
		dir = filepath.Join("/proc", strconv.Itoa(s.Running[0].Pid()), "root", s.Place.Volume)
	}
	t, err := durability.Try(ctx, dir, d.Facts)
	return t, d.Facts, err
}

func (s *local) DrawPlacement() (err error) {
	if s.placed != nil {
		return nil
	}
	if s.Freezer == nil {
		return errNotStopped
	}
	s.placed, err = openPlacement(s.target())
	return err
}

func (s *local) KeepPlacement() error {
	p := s.placed
	s.placed = nil
	return p.close()
}

func (s *local) Close() error {
	errs := []error{s.KeepPlacement()}
	if s.probes != nil {
		errs = append(errs, s.probes.Close())
	}
	return errors.Join(errs...)
}
