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

	"github.com/tarelab/tare/internal/counter"
	"github.com/tarelab/tare/internal/environment"
	"github.com/tarelab/tare/internal/facts"
	"github.com/tarelab/tare/internal/plan"
	"github.com/tarelab/tare/record"
)

// wanted are the sites of a generation, without the arms that were given up.
func (l *loadRun) wanted() []plan.Site {
	var sites []plan.Site
	for _, s := range plan.Sites(l.load.Arms) {
		s.Arms = slices.DeleteFunc(s.Arms, func(a plan.Arm) bool { return l.gaveUp[a.Name] })
		if !slices.ContainsFunc(s.Arms, func(a plan.Arm) bool { return a.Neighbour != nil }) {
			s.Neighbour = nil
		}
		if len(s.Arms) > 0 {
			sites = append(sites, s)
		}
	}
	return sites
}

// startAll starts all sites at the same time and keeps the arms in the plan's
// order.
func (l *loadRun) startAll(ctx context.Context, generation int, line *record.Generation) error {
	wanted, err := l.fitting(ctx, line)
	if err != nil {
		return err
	}
	started := make([]*site, len(wanted))
	failed := make([]error, len(wanted))
	var wg, hushing sync.WaitGroup
	all := make(chan struct{}) // closed when all have started
	for i, s := range wanted {
		wg.Go(func() {
			if started[i], failed[i] = l.start(ctx, s, generation); failed[i] == nil {
				hushing.Go(func() { started[i].hush(all) })
			}
		})
	}
	wg.Wait()
	close(all)
	hushing.Wait()
	for _, s := range started {
		if s != nil {
			l.sites = append(l.sites, s)
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
	place := func(a *arm) int {
		return slices.IndexFunc(l.load.Arms, func(p plan.Arm) bool { return p.Name == a.Name })
	}
	slices.SortFunc(l.arms, func(a, b *arm) int { return place(a) - place(b) })
	return nil
}

// hush lets a load that is ready wait at its gate until the others have started
// too: a pod takes its time, and would take more beside loads at full speed.
func (a *site) hush(all <-chan struct{}) {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		if state, _ := a.memory.State(); state == counter.Ready {
			a.memory.SetGate(true)
			return
		}
		select {
		case <-all:
			return
		case <-tick.C:
		}
	}
}

// fitting are the wanted sites for whose data there is room.
func (l *loadRun) fitting(ctx context.Context, line *record.Generation) (sites []plan.Site, err error) {
	wanted := l.wanted()
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
			if err := l.armFailed(ctx, a, short[i], line); err != nil {
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
	if s.Neighbour != nil && s.Neighbour.Env == nil {
		spec.Neighbour = l.neighbourSpec(s)
	}
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
	out := &site{name: first.Name, values: stages.Values, journal: l.journal, class: "tare-" + l.ID + "-" + first.Name}
	defer func() {
		if err != nil {
			err = errors.Join(err, out.close())
		}
	}()
	if out.memory, err = counter.Create(stages.Threads); err != nil {
		return nil, err
	}
	if out.facts, err = facts.Create(); err != nil {
		return nil, err
	}
	name := fmt.Sprintf("%s-%s-%d", l.load.Name, first.Name, generation)
	if out.log, err = os.Create(filepath.Join(l.Dir, record.RawDir, name+".log")); err != nil {
		return nil, err
	}
	if out.volume, err = l.openVolume(ctx, first, &spec); err != nil {
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
	if stages.Server != nil {
		p := environment.Process{Args: stages.Server(out.place).Args, Log: out.log}
		if out.server, err = out.opened.Start(ctx, p); err != nil {
			return nil, fmt.Errorf("start the server: %w", err)
		}
	}
	p := environment.Process{
		Args: stages.Load(out.place).Args, Log: out.log,
		Files: []*os.File{out.memory.File(), out.facts}, Outside: stages.Server != nil,
	}
	if out.load, err = out.opened.Start(ctx, p); err != nil {
		return nil, fmt.Errorf("start the load: %w", err)
	}
	out.locate()
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

// keep keeps the sites for which a step of the launch succeeds.
func (l *loadRun) keep(ctx context.Context, line *record.Generation, step func(*site) error) error {
	for _, s := range slices.Clone(l.sites) {
		err := step(s)
		if err == nil {
			continue
		}
		if tail := lastLines(s.log.Name()); tail != "" {
			err = fmt.Errorf("%w%s", err, tail)
		}
		arms := l.armsOn(s)
		errs := []error{l.drop(s)}
		for _, a := range arms {
			errs = append(errs, l.armFailed(ctx, l.planned(a.Name), err, line))
		}
		if err := errors.Join(errs...); err != nil {
			return err
		}
	}
	return nil
}
