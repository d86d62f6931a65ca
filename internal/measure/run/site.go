package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/measure/session"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/wire/counter"
	"github.com/tarelab/tare/internal/wire/readback"
	"github.com/tarelab/tare/record"
)

// wanted are the sites of a generation, without the arms that were given up.
func (l *loadRun) wanted() []plan.Site {
	var sites []plan.Site
	for _, s := range plan.Sites(l.load.Arms) {
		s.Arms = slices.DeleteFunc(s.Arms, func(a plan.PlannedArm) bool { return l.gaveUp[a.Name] || !l.launches(a.Name) })
		if !slices.ContainsFunc(s.Arms, func(a plan.PlannedArm) bool { return a.Neighbour != nil }) {
			s.Neighbour = nil
		}
		if len(s.Arms) > 0 {
			sites = append(sites, s)
		}
	}
	return sites
}

// launches says whether this launch has the arm: the first one has all of them, so
// that all are read back, guarded and seen by the pilot, the others of the first
// pass no more than that asks for.
func (l *loadRun) launches(arm string) bool {
	return l.question == nil || !l.known || slices.Contains(l.question, arm)
}

// startAll starts these sites at the same time and keeps the arms in the plan's
// order.
func (l *loadRun) startAll(ctx context.Context, sites []plan.Site, generation int, line *record.Generation) error {
	wanted, err := l.fitting(ctx, sites, line)
	if err != nil {
		return err
	}
	started := make([]*site, len(wanted))
	failed := make([]error, len(wanted))
	var wg sync.WaitGroup
	for i, s := range wanted {
		wg.Go(func() { started[i], failed[i] = l.start(ctx, s, generation) })
	}
	wg.Wait()
	for _, s := range started {
		if s != nil {
			l.sites = append(l.sites, s)
		}
	}
	for i, s := range wanted {
		if started[i] != nil {
			l.watchLayer(started[i], s.Arms[0].Volume)
		}
	}
	for i, s := range wanted {
		for _, a := range s.Arms {
			err := failed[i]
			if err == nil && a.Neighbour != nil {
				err = started[i].neighbourErr
			}
			if err == nil {
				l.arms = append(l.arms, &arm{Arm: a.Arm, site: started[i], isolation: a.Isolation})
			} else if err := l.armFailed(ctx, a, err, line); err != nil {
				return err
			}
		}
	}
	l.sortArms()
	return nil
}

// sortArms keeps the arms in the plan's order.
func (l *loadRun) sortArms() {
	place := func(a *arm) int {
		return slices.IndexFunc(l.load.Arms, func(p plan.PlannedArm) bool { return p.Name == a.Name })
	}
	slices.SortFunc(l.arms, func(a, b *arm) int { return place(a) - place(b) })
}

// fitting are those of the sites for whose data there is room.
func (l *loadRun) fitting(ctx context.Context, wanted []plan.Site, line *record.Generation) (sites []plan.Site, err error) {
	short, err := l.room(wanted)
	if err != nil {
		return nil, err
	}
	for i, s := range wanted {
		if short[i] == nil {
			sites = append(sites, s)
			continue
		}
		for _, a := range s.Arms {
			if err := l.armFailed(ctx, a, hopeless{short[i]}, line); err != nil {
				return nil, err
			}
		}
	}
	return sites, nil
}

// spec is what a site is opened with.
func (l *loadRun) spec(s plan.Site) (spec environment.Spec, err error) {
	a := s.Arms[0]
	spec = environment.Spec{
		Run: l.ID, Arm: a.Name, Data: l.data[a.Stages.Key].Dir, Scratch: l.scratch,
		Journal: l.journal, Groups: l.Groups, Container: a.Container, Limits: a.Limits,
	}
	spec.Beside = plan.Environments(l.wanted())
	if a.Stages.Server != nil {
		spec.Carried = a.Stages.Carried
		spec.Port, err = l.ports.next()
	}
	return spec, err
}

// start opens one site and starts what runs in it.
func (l *loadRun) start(ctx context.Context, s plan.Site, generation int) (_ *site, err error) {
	first := s.Arms[0]
	stages := first.Stages
	spec, err := l.spec(s)
	if err != nil {
		return nil, err
	}
	out := &site{name: first.Name, values: stages.Values, guard: l.guard}
	defer func() {
		if err != nil {
			err = errors.Join(err, out.close())
		}
	}()
	if out.parts.Memory, err = counter.Create(stages.Threads); err != nil {
		return nil, err
	}
	out.parts.Memory.HoldWhenReady() // what starts later is not to start beside loads at full speed
	if out.facts, err = readback.Create(); err != nil {
		return nil, err
	}
	name := fmt.Sprintf("%s-%s-%d", l.load.Name, first.Name, generation)
	if out.log, err = createLog(filepath.Join(l.Dir, record.RawDir, name+".log")); err != nil {
		return nil, err
	}
	if out.volume, err = l.openVolume(ctx, s, &spec); err != nil {
		return nil, err
	}
	if out.opened, err = first.Env.Open(ctx, spec); err != nil {
		return nil, err
	}
	out.locate()
	if s.Neighbour != nil {
		if err := l.startNeighbour(ctx, out, s, name); err != nil {
			return nil, err
		}
	}
	place := onData(out.parts.Place, l.data[stages.Key])
	if stages.Server != nil {
		task := stages.Server(place)
		p := environment.Process{Args: task.Args, Env: task.Env, Log: out.log}
		if out.server, err = out.opened.Start(ctx, p); err != nil {
			return nil, fmt.Errorf("start the server: %w", err)
		}
	}
	task := stages.Load(place)
	p := environment.Process{
		Args: task.Args, Env: task.Env, Log: out.log,
		Files: []*os.File{out.parts.Memory.File(), out.facts}, Outside: stages.Server != nil,
	}
	if out.load, err = out.opened.Start(ctx, p); err != nil {
		return nil, fmt.Errorf("start the load: %w", err)
	}
	out.locate()
	if out.server != nil {
		out.parts.Running = append(out.parts.Running, out.server)
	}
	out.parts.Running, out.parts.Ended = append(out.parts.Running, out.load), l.endedOn(out)
	out.session = session.Open(&out.parts)
	return out, nil
}

// armsOn are the arms of this generation on a site.
func (l *loadRun) armsOn(s *site) []*arm {
	var all []*arm
	for _, a := range l.arms {
		if a.site == s {
			all = append(all, a)
		}
	}
	return all
}

// drop takes a site and its arms out of this generation and ends its processes.
func (l *loadRun) drop(s *site) error {
	l.arms = slices.DeleteFunc(l.arms, func(a *arm) bool { return a.site == s })
	l.sites = slices.DeleteFunc(l.sites, func(other *site) bool { return other == s })
	return s.close()
}

// keep keeps those of the sites for which a step of the launch succeeds.
func (l *loadRun) keep(ctx context.Context, sites []*site, line *record.Generation, step func(*site) error) error {
	for _, s := range sites {
		if !slices.Contains(l.sites, s) {
			continue // an earlier step failed
		}
		if err := step(s); err != nil {
			if err := l.leave(ctx, s, err, line); err != nil {
				return err
			}
		}
	}
	return nil
}

// leave leaves the arms of a site out of this generation for an error, to which the end
// of its log belongs.
func (l *loadRun) leave(ctx context.Context, s *site, err error, line *record.Generation) error {
	if tail := lastLines(s.log.Name()); tail != "" {
		err = fmt.Errorf("%w%s", err, tail)
	}
	arms := l.armsOn(s)
	errs := []error{l.drop(s)}
	for _, a := range arms {
		errs = append(errs, l.armFailed(ctx, l.planned(a.Name), err, line))
	}
	return errors.Join(errs...)
}

// leaveDead leaves the arms of a site out whose processes have ended, which is why
// something else failed. Of one that lives it returns that error.
func (l *loadRun) leaveDead(ctx context.Context, s *site, err error, line *record.Generation) error {
	if died := s.diedBy(time.Now().Add(dyingTime)); died != nil {
		return l.leave(ctx, s, died, line)
	}
	return err
}

// dyingTime is how long a process that is ending may take to have ended.
const dyingTime = 500 * time.Millisecond

// diedBy is why the load or the server is not there any more, if so by then.
func (s *site) diedBy(end time.Time) error {
	for ; ; time.Sleep(5 * time.Millisecond) {
		if state, note := s.parts.Memory.State(); state == counter.Failed {
			return s.whyFailed(note)
		}
		if died := s.died(); died != nil || time.Now().After(end) {
			return died
		}
	}
}
