package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/measure/session"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/wire/counter"
	"github.com/tarelab/tare/internal/wire/readback"
	"github.com/tarelab/tare/record"
)

// startAll starts instances, all at the same time.
func (l *loadRun) startAll(ctx context.Context, instances []plan.Instance, line *record.Generation) error {
	instances, err := l.instancesWithRoom(ctx, instances, line)
	if err != nil {
		return err
	}
	started := make([]*instance, len(instances))
	failed := make([]error, len(instances))
	var wg sync.WaitGroup
	for i, s := range instances {
		wg.Go(func() { started[i], failed[i] = l.start(ctx, s) })
	}
	wg.Wait()
	for i, s := range instances {
		if started[i] != nil {
			l.instances.all = append(l.instances.all, started[i])
			l.watchLayer(started[i], s.Arms[0].Volume)
		}
	}
	for i, s := range instances {
		for _, a := range s.Arms {
			err := failed[i]
			if err == nil && a.Neighbour != nil {
				err = started[i].neighbourErr
			}
			if err == nil {
				l.instances.add(a, started[i])
			} else if err := l.armFailed(ctx, a, err, line); err != nil {
				return err
			}
		}
	}
	l.instances.sort(l.load.Arms)
	return nil
}

// instancesWithRoom returns the instances for whose data there is room, and leaves out the others.
func (l *loadRun) instancesWithRoom(ctx context.Context, all []plan.Instance, line *record.Generation) (instances []plan.Instance, err error) {
	short, err := l.checkRoom(all)
	if err != nil {
		return nil, err
	}
	for i, s := range all {
		if short[i] == nil {
			instances = append(instances, s)
			continue
		}
		for _, a := range s.Arms {
			if err := l.armFailed(ctx, a, permanentError{short[i]}, line); err != nil {
				return nil, err
			}
		}
	}
	return instances, nil
}

// logName is the name of an instance's log in this launch, without its suffix.
func (l *loadRun) logName(instance string) string {
	return fmt.Sprintf("%s-%s-%d", l.load.Name, instance, l.schedule.launch)
}

// createLog creates a log of this launch.
func (l *loadRun) createLog(name string) (*os.File, error) {
	return createLog(filepath.Join(l.run.config.Dir, record.RawDir, name+".log"))
}

// start opens one instance, and starts its neighbour, its server and its load.
func (l *loadRun) start(ctx context.Context, planned plan.Instance) (_ *instance, err error) {
	first := planned.Arms[0]
	s := &instance{name: first.Name, values: first.Stages.Values, guard: l.run.guard}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if err := l.open(ctx, s, planned); err != nil {
		return nil, err
	}
	if planned.Neighbour != nil {
		if err := l.startNeighbour(ctx, s, planned); err != nil {
			return nil, err
		}
	}
	if err := l.startProcesses(ctx, s, first); err != nil {
		return nil, err
	}
	s.locate()
	s.processes.Ended = l.endedOn(s)
	s.session = session.Open(&s.processes)
	return s, nil
}

// open opens the environment of an instance, and what its processes share with tare.
func (l *loadRun) open(ctx context.Context, s *instance, planned plan.Instance) error {
	first := planned.Arms[0]
	spec, err := l.spec(first)
	if err != nil {
		return err
	}
	if s.processes.Memory, err = counter.Create(first.Stages.Threads); err != nil {
		return err
	}
	s.processes.Memory.HoldWhenReady() // a load at full speed would slow down loads that start later
	if s.facts, err = readback.Create(); err != nil {
		return err
	}
	if s.log, err = l.createLog(l.logName(s.name)); err != nil {
		return err
	}
	if s.volume, err = l.openVolume(ctx, planned, &spec); err != nil {
		return err
	}
	if s.opened, err = first.Env.Open(ctx, spec); err != nil {
		return err
	}
	s.locate()
	return nil
}

// spec is how the environment of an instance is opened; first is the instance's first arm.
func (l *loadRun) spec(first plan.PlannedArm) (spec environment.Spec, err error) {
	c := &l.run.config
	spec = environment.Spec{
		Run: c.ID, Arm: first.Name, Data: l.data.dir(first.Stages), Scratch: l.run.scratch,
		Journal: l.run.journal, Groups: c.Groups, Container: first.Container, Limits: first.Limits,
		Beside: plan.Environments(l.schedule.instancesToLaunch()), Keep: true, Walled: l.runsUserSQL(),
	}
	if first.Stages.Server != nil {
		spec.Carried = first.Stages.Carried
		spec.Port, err = l.run.ports.next()
	}
	return spec, err
}

// runsUserSQL says whether an arm runs SQL of the user's. Then the servers of all arms are behind the same wall.
func (l *loadRun) runsUserSQL() bool {
	return slices.ContainsFunc(l.load.Arms, func(a plan.PlannedArm) bool { return a.Stages.UserSQL })
}

// startProcesses starts the server of an instance, if it has one, and its load.
func (l *loadRun) startProcesses(ctx context.Context, s *instance, first plan.PlannedArm) (err error) {
	stages := first.Stages
	place := onData(s.processes.Place, l.data.prepared[stages.Key], l.run.scratch)
	place.Walled = l.runsUserSQL()
	if stages.Server != nil {
		task := stages.Server(place)
		p := environment.Process{Args: task.Args, Env: l.run.environ(task.Env), Log: s.log}
		if s.server, err = s.opened.Start(ctx, p); err != nil {
			return fmt.Errorf("start the server: %w", err)
		}
		s.processes.Running = append(s.processes.Running, s.server)
	}
	task := stages.Load(place)
	p := environment.Process{
		Args: task.Args, Env: l.run.environ(task.Env), Log: s.log,
		Files: []*os.File{s.processes.Memory.File(), s.facts}, Outside: stages.Server != nil,
	}
	if s.load, err = s.opened.Start(ctx, p); err != nil {
		return fmt.Errorf("start the load: %w", err)
	}
	s.processes.Running = append(s.processes.Running, s.load)
	return nil
}
