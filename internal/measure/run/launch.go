package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/host/enforce"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/host/isolation"
	"github.com/tarelab/tare/internal/host/volume"
	"github.com/tarelab/tare/internal/linux/sched"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/measure/session"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/wire/counter"
	"github.com/tarelab/tare/record"
)

// starvedTimeout is how long isolation stays in force while processes do not stop.
const starvedTimeout = 100 * time.Millisecond

// arm is one arm that runs: some settings on the processes of a site.
type arm struct {
	record.Arm
	*site
	isolation []isolation.Settings
}

// site is launched processes on which one or several arms are measured.
type site struct {
	name    string
	volume  *volume.Opened
	opened  environment.Arm
	load    environment.Running
	server  environment.Running
	parts   session.Processes
	session session.Session // of these, once they run
	log     *os.File
	facts   *os.File // what the load read back

	guard        *launch.Guard
	neighbour    *neighbour // nil: none
	gone         *neighbour // one that has ended before the site; nil: none
	neighbourErr error      // why there is none that there should be
	enforced     *enforce.Enforced
	// holder is the arm whose isolation is in force; empty: nobody's.
	holder string
	// lifts says that what is in force may be taken back at any time.
	lifts bool

	values []workload.Metric // that the load adds up itself
}

// launch opens all arms and starts their loads, waits until each is ready and
// pauses it. An arm that fails is left out, unless it is the baseline.
func (l *loadRun) launch(ctx context.Context, generation int) (err error) {
	began := time.Now()
	l.guard.Attend()
	l.event(l.at("launch"))
	line := &record.Generation{Workload: l.load.Name, Number: generation}
	l.trying = !l.known
	if err := l.startAll(ctx, l.wanted(), generation, line); err != nil {
		return err
	}
	if err := l.awaitReady(ctx, slices.Clone(l.sites), line); err != nil {
		return err
	}
	if !l.known {
		if err := l.again(ctx, generation, line, began); err != nil {
			return err
		}
		if err := l.nothingLeft(line.Left); err != nil {
			return err
		}
		if err := l.readBack(ctx, line); err != nil {
			return err
		}
		if err := l.equal(ctx, line); err != nil {
			return err
		}
	}
	line.Seconds = time.Since(began).Seconds()
	l.launchTime = time.Since(began)
	return l.append(record.Line{Generation: line})
}

// nothingLeft refuses to measure the baseline and its twin alone where other arms were asked
// for and none of them could be launched.
func (l *loadRun) nothingLeft(left []record.Left) error {
	if l.compares() || len(left) == 0 {
		return nil
	}
	var reasons []string
	remedy := ""
	for _, x := range left {
		reasons = append(reasons, x.Arm+": "+strings.TrimPrefix(x.Reason, facts.ErrUnsupported.Error()+": "))
		remedy = cmp.Or(remedy, x.Remedy)
	}
	return hint.New(fmt.Errorf("nothing is left to compare with %s (%w): %s", l.load.Baseline, facts.ErrUnsupported,
		strings.Join(reasons, "; ")), remedy)
}

// awaitReady waits for the loads of these sites, lets all of them settle, then pauses each
// and opens its probes. A load that is ready waits at its gate: it must not take
// the CPU from those that are still starting.
func (l *loadRun) awaitReady(ctx context.Context, sites []*site, line *record.Generation) error {
	failed := l.readiness(ctx, sites)
	if err := l.keep(ctx, sites, line, func(s *site) error { return failed[s] }); err != nil {
		return err
	}
	if settle := l.load.Stages.Settle; settle > 0 {
		longest := time.Duration(0)
		if err := l.keep(ctx, sites, line, func(s *site) error {
			settling, err := s.session.Settle(ctx, settle)
			longest = max(longest, settling)
			return err
		}); err != nil {
			return err
		}
		if err := sleep(ctx, sched.Monotonic()+int64(longest)); err != nil {
			return err
		}
	}
	return l.keep(ctx, sites, line, func(s *site) error {
		err := s.session.PausePatiently()
		if err == nil {
			s.session.Observe(l.Probes)
		}
		return err
	})
}

// readiness waits until every load is ready or has failed, and returns why those
// that failed did.
func (l *loadRun) readiness(ctx context.Context, sites []*site) map[*site]error {
	within := l.readyWithin(len(sites))
	deadline := time.Now().Add(within)
	failed := map[*site]error{}
	waiting := slices.Clone(sites)
	for starting := -1; len(waiting) > 0; time.Sleep(2 * time.Millisecond) {
		if starting != len(waiting) {
			starting = len(waiting)
			e := l.at("launch")
			e.Ready, e.Starting = len(sites)-starting, len(sites)
			l.event(e)
		}
		waiting = slices.DeleteFunc(waiting, func(s *site) bool {
			ready, err := s.ready(ctx, deadline, within)
			if err != nil {
				failed[s] = err
			}
			return ready || err != nil
		})
	}
	return failed
}

// ready says whether the load is ready, or why it will not be.
func (a *site) ready(ctx context.Context, deadline time.Time, within time.Duration) (bool, error) {
	state, note := a.parts.Memory.State()
	switch {
	case state == counter.Failed:
		return false, a.whyFailed(note)
	case state == counter.Ready:
		return true, nil
	case ctx.Err() != nil:
		return false, ctx.Err()
	case time.Now().After(deadline):
		return false, fmt.Errorf("the load was not ready after %v", within)
	}
	return false, a.died()
}

// whyFailed is why a load failed. That its server ended comes first: whatever the
// load says then, of another server at that address perhaps, is the consequence.
func (a *site) whyFailed(note string) error {
	err := fmt.Errorf("the load gave up: %s", note)
	if a.server == nil {
		return err
	}
	select {
	case <-a.server.Done():
		return fmt.Errorf("the server %w; %w", describeExit(a.server.Exit()), err)
	default:
		return err
	}
}

// died says how the server or the load ended; nil while both run. The server
// comes first: a load ends because its server did.
func (a *site) died() error {
	for _, part := range []struct {
		name string
		environment.Running
	}{{"the server", a.server}, {"the load", a.load}} {
		if part.Running == nil {
			continue
		}
		select {
		case <-part.Done():
			return fmt.Errorf("%s %w", part.name, describeExit(part.Exit()))
		default:
		}
	}
	return nil
}

func describeExit(e environment.Exit) error {
	switch {
	case e.OOM:
		return hint.New(errors.New("ended by the out-of-memory killer"), "raise the memory limit of the arm, or give the load less to hold")
	case e.Signal != "":
		return fmt.Errorf("ended by %s", e.Signal)
	case e.Err != nil:
		return e.Err
	}
	return fmt.Errorf("ended with exit code %d", e.Code)
}

// close ends what runs on the site and takes everything back.
func (a *site) close() error {
	var errs []error
	if a.session != nil {
		errs = append(errs, a.session.Close())
	}
	errs = append(errs, a.release())
	launch.Release(a.parts.Alone)
	if a.opened != nil {
		errs = append(errs, a.opened.Close())
	}
	for _, n := range []*neighbour{a.neighbour, a.gone} {
		if n != nil {
			errs = append(errs, n.close())
		}
	}
	if a.parts.Memory != nil {
		errs = append(errs, a.parts.Memory.Close())
	}
	for _, f := range []*os.File{a.log, a.facts} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}

// closeArms ends the generation, all arms at once.
func (l *loadRun) closeArms() error {
	defer func(began time.Time) { l.closeTime = time.Since(began) }(time.Now())
	l.guard.Attend()
	errs := make([]error, len(l.sites))
	var wg sync.WaitGroup
	for i, s := range l.sites {
		wg.Go(func() {
			if err := s.close(); err != nil {
				errs[i] = fmt.Errorf("arm %s: %w", s.name, err)
			}
		})
	}
	wg.Wait()
	l.arms, l.sites = nil, nil
	l.forgetLayers()
	return errors.Join(append(errs, l.closeVolumes())...)
}

func (l *loadRun) planned(name string) plan.PlannedArm {
	for _, a := range l.load.Arms {
		if a.Name == name {
			return a
		}
	}
	return plan.PlannedArm{Arm: record.Arm{Name: name}}
}

// lastLines is the end of a log, for an error message; empty without one. Where
// the end holds errors, these come first: a server names the cause, and then all
// that failed for it.
func lastLines(path string) string {
	const most, within = 5, 40
	b, err := os.ReadFile(path)
	if err != nil || len(strings.TrimSpace(string(b))) == 0 {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	lines = lines[max(0, len(lines)-within):]
	last := max(0, len(lines)-most)
	var shown []string
	for i, l := range lines {
		if i >= last || len(shown) < most && marksError.MatchString(l) {
			shown = append(shown, l)
		}
	}
	return "\n  " + strings.Join(shown, "\n  ")
}

// marksError finds the errors in the logs of tare, MariaDB and MySQL, PostgreSQL and
// ClickHouse.
var marksError = regexp.MustCompile(`^tare: |\[ERROR\]|\b(FATAL|PANIC):|<(Error|Fatal)>`)

// taskName is the task for people.
func taskName(t workload.Task) string {
	var words []string
	for _, a := range t.Args {
		if !strings.HasPrefix(a, "{") { // its parameters
			words = append(words, strings.TrimPrefix(a, "__"))
		}
	}
	return strings.Join(words, " ")
}
