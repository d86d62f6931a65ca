package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/host/probe"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/sched"
	"github.com/tarelab/tare/internal/measure/session"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/wire/counter"
	"github.com/tarelab/tare/internal/wire/readback"
	"github.com/tarelab/tare/record"
)

// neighbour is the neighbour of an instance during one launch.
type neighbour struct {
	planned *plan.Neighbour
	opened  environment.OpenArm // nil: not yet
	load    environment.Running // nil: not yet
	process session.Neighbour   // as the session of its arm sees it
	log     *os.File
	facts   *os.File // settings that the load read back
}

// startNeighbour starts the neighbour of an instance and freezes it. If it cannot be started, the instance's
// neighbourErr says why, and the arms without a neighbour go on.
func (l *loadRun) startNeighbour(ctx context.Context, s *instance, planned plan.Instance) error {
	p := planned.Neighbour
	n := &neighbour{planned: p}
	n.process.Ended = n.died
	var err error
	if n.process.Memory, err = counter.Create(p.Stages.Threads); err != nil {
		return err
	}
	s.neighbour = n
	if n.facts, err = readback.Create(); err != nil {
		return err
	}
	if n.log, err = l.createLog(l.logName(s.name) + "-" + p.Name); err != nil {
		return err
	}
	err = l.openNeighbour(ctx, s, planned)
	if err == nil {
		err = l.runNeighbour(ctx, n)
	}
	if err != nil {
		s.neighbourErr = fmt.Errorf("start neighbour %s: %w%s", p.Name, err, lastLines(n.log.Name()))
		return errors.Join(ctx.Err(), s.endNeighbour())
	}
	s.processes.Neighbour = &n.process
	if n.process.Remote != nil {
		return nil
	}
	n.process.Probes = probe.OpenAll(neighbourProbes(l.run.config.Probes), probe.Target{Root: "/", Group: n.process.Group})
	if err := session.Patiently(func() error { return n.process.Pause.Freeze(session.FreezeTimeout) }); err != nil {
		return fmt.Errorf("freeze neighbour %s: %w", p.Name, err)
	}
	return nil
}

// openNeighbour opens the environment of a neighbour.
func (l *loadRun) openNeighbour(ctx context.Context, s *instance, planned plan.Instance) (err error) {
	n, c := s.neighbour, &l.run.config
	n.opened, err = n.planned.Env.Open(ctx, environment.Spec{
		Run: c.ID, Arm: plan.NeighbourArm(s.name), Data: l.data.dir(n.planned.Stages), Scratch: l.run.scratch,
		Journal: l.run.journal, Groups: c.Groups, Beside: plan.Environments(l.schedule.instancesToLaunch()),
		Neighbour: neighbourLimits(planned, c.Plan.Record.Budget),
	})
	if err != nil {
		n.opened = nil
		return err
	}
	place := n.opened.Place()
	n.process.Group, n.process.Pause, n.process.Remote = place.Group, l.run.guard.Hold(place.Pause), place.Remote
	s.locate()
	return nil
}

// neighbourLimits returns the limits of a neighbour. Its CPU time is limited to all CPUs during the whole
// run (budget seconds), so that the kernel ends a neighbour that survives a killed tare.
func neighbourLimits(s plan.Instance, budget float64) *environment.Neighbour {
	cpus := time.Duration(onlineCPUs())
	return &environment.Neighbour{
		Controllers: s.Controllers, Grouped: s.Grouped, Service: s.Service,
		Limits: cgroup.Limits{Memory: s.Neighbour.Memory, Pids: s.Neighbour.Pids},
		Time:   cpus*seconds(budget) + time.Minute,
	}
}

// runNeighbour starts the load of a neighbour, waits until it is ready, and lets it settle.
func (l *loadRun) runNeighbour(ctx context.Context, n *neighbour) (err error) {
	stages := n.planned.Stages
	place := onData(n.opened.Place(), l.data.prepared[stages.Key], l.run.scratch)
	place.Walled = stages.UserSQL
	task := stages.Load(place)
	n.load, err = n.opened.Start(ctx, environment.Process{
		Args: task.Args, Env: l.run.environ(task.Env), Log: n.log, Files: []*os.File{n.process.Memory.File(), n.facts},
	})
	if err != nil {
		return err
	}
	if err := n.awaitReady(ctx, l.data.readyWithin(len(l.schedule.instancesToLaunch()))); err != nil {
		return err
	}
	if err := n.process.Start(); err != nil {
		return err
	}
	if err := sleep(ctx, sched.Monotonic()+int64(stages.Settle)); err != nil {
		return err
	}
	return n.process.Stop()
}

func (n *neighbour) awaitReady(ctx context.Context, within time.Duration) error {
	for deadline := time.Now().Add(within); ; time.Sleep(2 * time.Millisecond) {
		state, note := n.process.Memory.State()
		died := n.died()
		switch {
		case state == counter.Failed:
			return errors.New(note)
		case died != nil:
			return died
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
	if !environment.Ended(n.load) {
		return nil
	}
	err := describeExit(n.load.Exit())
	if n.load.Exit().OOM {
		err = n.memoryError(err.Error())
	}
	return err
}

// memoryError is the error of a neighbour whose memory limit is too small.
func (n *neighbour) memoryError(what string) error {
	return hint.New(fmt.Errorf("%s: its memory limit is %d bytes", what, n.planned.Memory), "neighbours."+n.planned.Name+".memory in the experiment")
}

// trouble returns why a window with the neighbour does not count: the neighbour has ended or lost
// processes. nil: it counts.
func (n *neighbour) trouble() error {
	if err := n.died(); err != nil {
		return err
	}
	if kills := n.process.Kills(); kills > 0 {
		return n.memoryError(killedProcesses(kills))
	}
	return nil
}

// neighbourTrouble is the trouble with the neighbour of an arm; nil for an arm without one.
func (a *arm) neighbourTrouble() error {
	switch {
	case a.planned.Neighbour == nil:
		return nil
	case a.instance.neighbour == nil:
		return session.ErrNoNeighbour
	}
	return a.instance.neighbour.trouble()
}

// endNeighbour ends the neighbour of an instance that goes on without it. Its environment is closed with
// the instance: removing directories and disabling controllers would disturb the arms that are measured
// meanwhile.
func (s *instance) endNeighbour() error {
	n := s.neighbour
	s.endedNeighbour, s.neighbour, s.processes.Neighbour = n, nil, nil
	s.locate() // the freezers of the remaining processes
	if n.load == nil {
		return nil
	}
	return n.load.Kill() // kills its children too
}

func (n *neighbour) close() error {
	var errs []error
	launch.Release(n.process.Pause)
	if n.opened != nil {
		errs = append(errs, n.opened.Close())
	}
	if n.process.Probes != nil {
		errs = append(errs, n.process.Probes.Close())
	}
	errs = append(errs, closeFiles(n.log, n.facts), n.process.Memory.Close())
	return errors.Join(errs...)
}

// settings returns what the neighbour's environment and its own server read back, and by what it
// competes for CPUs.
func (n *neighbour) settings() ([]record.Setting, error) {
	all, err := readback.Read(n.facts)
	if n.opened != nil {
		of, oerr := n.opened.Settings()
		all, err = append(of, all...), errors.Join(oerr, err)
	}
	if n.load != nil && n.load.Pid() > 0 {
		all = append(all, probe.Competes("/", n.load.Pid())...)
	}
	for i := range all {
		all[i].Name = "neighbour." + all[i].Name
	}
	return all, err
}
