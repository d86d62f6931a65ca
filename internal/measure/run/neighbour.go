package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/host/enforce"
	"github.com/tarelab/tare/internal/host/isolation"
	"github.com/tarelab/tare/internal/host/probe"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/sched"
	"github.com/tarelab/tare/internal/measure/session"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/internal/wire/counter"
	"github.com/tarelab/tare/internal/wire/readback"
	"github.com/tarelab/tare/record"
)

// neighbour is a running neighbour.
type neighbour struct {
	*plan.Neighbour
	opened environment.Arm // nil: not yet
	load   environment.Running
	part   session.Neighbour // of its arm's session
	log    *os.File
	facts  *os.File // what it read back
}

// neighbourSpec limits a neighbour. Its time is what the whole run could use:
// a neighbour that is left running ends all the same.
func (l *loadRun) neighbourSpec(s plan.Site) *environment.Neighbour {
	cpus := time.Duration(runtime.NumCPU())
	budget := time.Duration(l.Plan.Record.Budget * float64(time.Second))
	return &environment.Neighbour{
		Controllers: s.Controllers, Grouped: s.Grouped,
		Limits: cgroup.Limits{Memory: s.Neighbour.Memory, Pids: s.Neighbour.Pids},
		Time:   cpus*budget + time.Minute,
	}
}

// startNeighbour starts the neighbour of a site and freezes it. That it cannot
// be started is a matter of the arms that have it: the others go on.
func (l *loadRun) startNeighbour(ctx context.Context, s *site, planned plan.Site, name string) error {
	p := planned.Neighbour
	n := &neighbour{Neighbour: p}
	n.part.Ended = n.died
	var err error
	if n.part.Memory, err = counter.Create(p.Stages.Threads); err != nil {
		return err
	}
	s.neighbour = n
	if n.facts, err = readback.Create(); err != nil {
		return err
	}
	if n.log, err = createLog(filepath.Join(l.Dir, record.RawDir, name+"-"+p.Name+".log")); err != nil {
		return err
	}
	err = l.openNeighbour(ctx, s, planned)
	if err == nil {
		err = l.runNeighbour(ctx, s)
	}
	if err != nil {
		s.neighbourErr = fmt.Errorf("start neighbour %s: %w%s", p.Name, err, lastLines(n.log.Name()))
		return errors.Join(ctx.Err(), s.endNeighbour())
	}
	s.parts.Neighbour = &n.part
	if n.part.Remote != nil {
		return nil
	}
	n.part.Probes = probe.OpenAll(watching(l.Probes), probe.Target{Root: "/", Group: n.part.Group})
	if err := session.Patiently(func() error { return n.part.Pause.Freeze(session.FreezeTimeout) }); err != nil {
		return fmt.Errorf("freeze neighbour %s: %w", p.Name, err)
	}
	return nil
}

// openNeighbour opens the arm of a neighbour.
func (l *loadRun) openNeighbour(ctx context.Context, s *site, planned plan.Site) (err error) {
	n := s.neighbour
	n.opened, err = n.Env.Open(ctx, environment.Spec{
		Run: l.ID, Arm: plan.NeighbourArm(s.name), Data: l.data[n.Stages.Key].Dir, Scratch: l.scratch,
		Journal: l.journal, Groups: l.Groups, Beside: plan.Environments(l.wanted()), Neighbour: l.neighbourSpec(planned),
	})
	if err != nil {
		n.opened = nil
		return err
	}
	place := n.opened.Place()
	n.part.Group, n.part.Pause, n.part.Remote = place.Group, l.guard.Hold(place.Pause), place.Remote
	s.locate()
	return nil
}

// runNeighbour starts its load and waits until that works.
func (l *loadRun) runNeighbour(ctx context.Context, s *site) (err error) {
	n := s.neighbour
	task := n.Stages.Load(onData(n.opened.Place(), l.data[n.Stages.Key]))
	n.load, err = n.opened.Start(ctx, environment.Process{
		Args: task.Args, Env: task.Env, Log: n.log, Files: []*os.File{n.part.Memory.File(), n.facts},
	})
	if err != nil {
		return err
	}
	if err := n.awaitReady(ctx, l.readyWithin(len(l.wanted()))); err != nil {
		return err
	}
	if err := n.part.Start(); err != nil {
		return err
	}
	if err := sleep(ctx, sched.Monotonic()+int64(n.Stages.Settle)); err != nil {
		return err
	}
	return n.part.Stop()
}

// locate finds out where things are on the site, and what stops them: a neighbour here
// is frozen with its arm.
func (s *site) locate() {
	s.parts.Place = s.opened.Place()
	pause := s.guard.Hold(s.parts.Place.Pause)
	if s.parts.Alone != pause {
		launch.Release(s.parts.Alone)
	}
	s.parts.Alone = pause
	if n := s.neighbour; n != nil && n.part.Pause != nil && n.part.Remote == nil && pause != nil {
		pause = session.Joint(n.part.Pause, pause)
	}
	if pause != nil {
		pause = yielding{pause, s}
	}
	s.parts.Freezer = pause
}

func (n *neighbour) awaitReady(ctx context.Context, within time.Duration) error {
	for deadline := time.Now().Add(within); ; time.Sleep(2 * time.Millisecond) {
		state, note := n.part.Memory.State()
		switch {
		case state == counter.Failed:
			return errors.New(note)
		case n.died() != nil:
			return n.died()
		case state == counter.Ready:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case time.Now().After(deadline):
			return fmt.Errorf("it was not ready after %v", within)
		}
	}
}

// died says how the neighbour ended; nil while it runs.
func (n *neighbour) died() error {
	if n.load == nil {
		return session.ErrNoNeighbour
	}
	select {
	case <-n.load.Done():
	default:
		return nil
	}
	err := describeExit(n.load.Exit())
	if n.load.Exit().OOM {
		err = hint.New(fmt.Errorf("%w: its memory limit is %d bytes", err, n.Memory), "neighbours."+n.Name+".memory in the experiment")
	}
	return err
}

// watching are the probes whose values tell what a neighbour did.
func watching(all []probe.Probe) []probe.Probe {
	var out []probe.Probe
	for _, p := range all {
		for _, m := range p.Metrics() {
			if m.Name == record.NeighbourCPU || m.Name == ioRead {
				out = append(out, p)
			}
		}
	}
	return out
}

// Probe values that make up what a neighbour does on disks.
const (
	ioRead    = "io.read"
	ioWritten = "io.written"
	ioReads   = "io.reads"
	ioWrites  = "io.writes"
)

// did is what it did in the window; nothing is known of it where seen is nil.
func (n *neighbour) did(seen *wire.NeighbourSample) map[string]record.Value {
	if seen == nil {
		unknown := record.Missing("nobody looked at the neighbour in this window")
		out := map[string]record.Value{}
		for _, name := range []string{record.NeighbourCPU, record.NeighbourIO, record.NeighbourRequests, record.NeighbourOps} {
			out[name] = unknown
		}
		return out
	}
	v := seen.Probes
	out := map[string]record.Value{
		record.NeighbourCPU: v[record.NeighbourCPU],
		record.NeighbourIO:  sum(v[ioRead], v[ioWritten]), record.NeighbourRequests: sum(v[ioReads], v[ioWrites]),
	}
	if n.Stages.Work.Name == "" {
		out[record.NeighbourOps] = record.Number(float64(seen.Ops))
	}
	return out
}

// sum is missing where one of the two is.
func sum(a, b record.Value) record.Value {
	x, ok := a.Get()
	if !ok {
		return a
	}
	y, ok := b.Get()
	if !ok {
		return b
	}
	return record.Number(x + y)
}

// trouble says why the neighbour was not what it should have been in a window;
// nil when it was.
func (n *neighbour) trouble() error {
	if err := n.died(); err != nil {
		return err
	}
	if kills := n.part.Kills(); kills > 0 {
		return hint.New(fmt.Errorf("the out-of-memory killer ended %d of its processes: its memory limit is %d bytes", kills, n.Memory),
			"neighbours."+n.Name+".memory in the experiment")
	}
	return nil
}

// disturbed is the trouble with the neighbour of an arm that has one.
func (a *arm) disturbed() error {
	switch {
	case a.Neighbour == "":
		return nil
	case a.neighbour == nil:
		return session.ErrNoNeighbour
	}
	return a.neighbour.trouble()
}

func (n *neighbour) close() error {
	var errs []error
	launch.Release(n.part.Pause)
	if n.opened != nil {
		errs = append(errs, n.opened.Close())
	}
	if n.part.Probes != nil {
		errs = append(errs, n.part.Probes.Close())
	}
	for _, f := range []*os.File{n.log, n.facts} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(append(errs, n.part.Memory.Close())...)
}

// settings are what the neighbour's own server read back, and what its own
// environment consists of.
func (n *neighbour) settings() ([]record.Setting, error) {
	said, err := readback.Read(n.facts)
	if n.opened != nil {
		of, oerr := n.opened.Settings()
		said, err = append(of, said...), errors.Join(oerr, err)
	}
	for i := range said {
		said[i].Name = "neighbour." + said[i].Name
	}
	return said, err
}

// endNeighbour ends the neighbour of a site that goes on without it. Its environment is
// closed with the site: what is removed there, and controllers that are disabled, would
// disturb those that are measured meanwhile.
func (s *site) endNeighbour() error {
	s.gone = s.neighbour
	s.neighbour, s.parts.Neighbour = nil, nil
	s.locate() // what is left to be paused
	if s.gone.load == nil {
		return nil
	}
	return s.gone.load.Kill() // with what it has left
}

// hold puts the arm's isolation in force, and reads it back where it is already.
// Everything on the site is frozen. For an arm whose neighbour stays frozen what
// another one left is taken back: it may bind the arm too, as a split of the
// CPUs does.
func (a *arm) hold() error {
	if a.neighbour == nil || a.Neighbour == "" {
		return a.release()
	}
	if a.holder == a.Name && a.enforced != nil {
		if _, err := a.enforced.Check(); err != nil {
			return errors.Join(err, a.release()) // it is set anew for the next window
		}
		return nil
	}
	if err := a.release(); err != nil {
		return err
	}
	e, err := enforce.Set(a.sides(), a.isolation)
	if err != nil {
		return err
	}
	a.enforced, a.holder = e, a.Name
	a.lifts = !slices.ContainsFunc(a.isolation, func(s isolation.Settings) bool { return !s.Live })
	return nil
}

// held puts the arm's isolation in force and returns it as read back.
func (a *arm) held() ([]record.Setting, error) {
	if err := a.hold(); err != nil || a.enforced == nil || a.holder != a.Name {
		return nil, err
	}
	return a.enforced.Check()
}

// release takes back what is in force on the site.
func (s *site) release() error {
	e := s.enforced
	s.enforced, s.holder = nil, ""
	if e == nil {
		return nil
	}
	return e.Undo()
}

func (s *site) sides() enforce.Sides {
	return enforce.Sides{Neighbour: s.neighbour.part.Group, Arm: []cgroup.Group{s.parts.Place.Group, s.parts.Place.OutsideGroup}}
}
