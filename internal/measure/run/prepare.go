package run

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/internal/databases/dataset"
	"github.com/tarelab/tare/internal/databases/serve"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/reserve"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/undo/journal/steps"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/record"
)

const (
	// prepareTimeout is long enough for large data sets on a slow disk. Progress shows the time so
	// far, and Ctrl-C ends it.
	prepareTimeout = 2 * time.Hour
	// readyTimeout is how long a small load may take until it is ready. A server may take one
	// second more for each readyRate bytes of its data.
	readyTimeout = 30 * time.Second
	readyRate    = 20 << 20
	// prepareShown is the interval between two events while data sets are prepared.
	prepareShown = time.Second
)

// dataSets are the data sets of a workload. All its turns use them.
type dataSets struct {
	prepared map[string]dataset.Prepared // by Stages.Key; nil: not prepared yet
	unlocks  []func()                    // unlock the data sets in the cache; a locked one is not removed
}

// dir is the directory of the data set that stages work on; empty: they need none, or it is not
// prepared.
func (d *dataSets) dir(s workload.Stages) string { return d.prepared[s.Key].Dir }

// add adds a data set, and locks it if it is in the cache.
func (d *dataSets) add(key string, p dataset.Prepared) error {
	if p.Key != "" {
		unlock, err := dataset.Set{Dir: p.Dir, Marker: dataset.Marker{Key: p.Key}}.Hold()
		if err != nil {
			return err
		}
		d.unlocks = append(d.unlocks, unlock)
	}
	d.prepared[key] = p
	return nil
}

// unlock unlocks the data sets in the cache.
func (d *dataSets) unlock() {
	for _, unlock := range d.unlocks {
		unlock()
	}
	d.unlocks = nil
}

// readyWithin is how long a load may take until it is ready, if launched loads start at the same time:
// a server may have to read all its data, from a disk that they share.
func (d *dataSets) readyWithin(launched int) time.Duration {
	most := int64(0)
	for _, p := range d.prepared {
		most = max(most, p.Bytes)
	}
	return readyTimeout + time.Duration(most/readyRate)*time.Second*time.Duration(launched)
}

// prepareData prepares every data set that an arm or its neighbour needs, each only once.
func (l *loadRun) prepareData(ctx context.Context) error {
	l.data.prepared = map[string]dataset.Prepared{}
	for _, a := range l.load.Arms {
		if err := l.prepareFor(ctx, a.Stages); err != nil {
			return err
		}
	}
	for _, a := range l.load.Arms {
		if a.Neighbour == nil {
			continue
		}
		if err := l.prepareFor(ctx, a.Neighbour.Stages); err != nil {
			return fmt.Errorf("neighbour %s: %w", a.Neighbour.Name, err)
		}
	}
	return nil
}

// prepareFor prepares the data set of stages, unless they need none or it is prepared already.
func (l *loadRun) prepareFor(ctx context.Context, s workload.Stages) error {
	if _, ok := l.data.prepared[s.Key]; ok || s.Prepare == nil {
		return nil
	}
	name := "data-" + l.load.Name
	if n := len(l.data.prepared); n > 0 {
		name += fmt.Sprint("-", n)
	}
	p, err := l.prepareOne(ctx, s, name)
	if err != nil {
		return err
	}
	if p.Program != "" {
		if err := l.run.programs.files.Take(p.Program); err != nil {
			return err
		}
	}
	return l.data.add(s.Key, p)
}

// prepareOne runs the process that builds a data set or finds it in the cache.
func (l *loadRun) prepareOne(ctx context.Context, s workload.Stages, name string) (dataset.Prepared, error) {
	var none dataset.Prepared
	dir := filepath.Join(l.run.scratch, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return none, fmt.Errorf("prepare the data set: %w", err)
	}
	ctx, stop := context.WithTimeout(ctx, prepareTimeout)
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer l.showPreparing(dir, cancel)()
	log := filepath.Join(l.run.config.Dir, record.RawDir, strings.TrimPrefix(name, "data-")+"-prepare.log")
	enter, leave, err := l.run.prepareGroup(s.UserSQL)
	if err != nil {
		return none, fmt.Errorf("prepare the data set: %w", err)
	}
	if err := errors.Join(runSelf(ctx, s.Prepare(dir), log, enter), leave()); err != nil {
		if errors.Is(context.Cause(ctx), reserve.ErrShort) {
			err = errors.Join(err, removeUnfinished())
		}
		remedy := seeLog(log)
		var long *longStatementError
		switch {
		case errors.Is(err, reserve.ErrShort):
			remedy = cacheRemedy
		case errors.As(context.Cause(ctx), &long):
			return none, hint.New(fmt.Errorf("prepare the data set: %w", long), longerForDump)
		}
		return none, hint.New(fmt.Errorf("prepare the data set: %w%s", err, lastLines(log)), remedy)
	}
	p, err := dataset.Resolve(dir)
	if err != nil {
		return none, err
	}
	if p.Instead != "" {
		l.run.rec.warn(preparedAnew(p.Instead).of(l.load.Name, ""))
	}
	if len(p.Versions) > 0 {
		maps.Copy(l.run.rec.manifest.Versions, p.Versions)
	}
	if p.Key != "" {
		l.run.rec.manifest.Data = append(l.run.rec.manifest.Data,
			record.DataSet{Workload: l.load.Name, Key: p.Key, Bytes: p.Bytes, Seconds: p.Seconds, Made: !p.Cached})
	}
	return p, nil
}

// removeUnfinished removes unfinished data sets of processes that have ended. Ctrl-C does not wait for
// it: the next run or tare cleanup removes them then.
func removeUnfinished() error {
	store, err := dataset.Default()
	if err != nil {
		return err
	}
	_, err = store.Prune(func(e dataset.Entry) bool { return e.Unfinished })
	return err
}

// onData adds the data set to the place in which a load runs. Processes in the arm can change the arm's
// copy of the data set. So the path of the server's program, and the password for a client outside of
// the arm, come from the original. Other arms and other runs copy it meanwhile, so nothing is written into it:
// such a client has files of its own in scratch, the run's directory.
func onData(at wire.Place, p dataset.Prepared, scratch string) wire.Place {
	at.Program = p.Program
	if p.Key != "" && at.ClientVolume == "" {
		at.ClientVolume, at.ClientFiles = p.Dir, scratch
	}
	return at
}

// prepareGroup makes a cgroup for the process that prepares data: a program that installs a database
// starts others, and they would go on writing after a kill of their parent. enter moves a process into
// the group, leave kills its processes and removes it. bounded: processes and memory are, as far as this user may
// enable the controllers. Without the right to make cgroups both do nothing.
func (r *runner) prepareGroup(bounded bool) (enter func(pid int) error, leave func() error, err error) {
	enter, leave = func(int) error { return nil }, func() error { return nil }
	if r.config.Groups == nil {
		return enter, leave, nil
	}
	path := "tare-" + r.config.ID + "/prepare"
	controllers, limits := r.prepareLimits(bounded)
	if len(controllers) > 0 { // on version 2 all groups below one have the same
		path = "tare-" + r.config.ID + "-prepare.parent/prepare"
	}
	p, err := r.config.Groups.Plan(path, controllers)
	if err != nil {
		return enter, leave, nil
	}
	var g cgroup.Group
	undo, err := r.journal.Record(steps.Group{Plan: p}, func() error { return g.Remove() })
	if err != nil {
		return nil, nil, err
	}
	if g, err = r.config.Groups.Make(path, controllers); err != nil { // Make has taken back what it changed
		return enter, undo, nil
	}
	if _, err := g.Apply(limits); err != nil {
		return nil, nil, errors.Join(err, undo())
	}
	var watched wire.Freezer
	f, err := g.Freezer()
	if err == nil {
		watched = r.guard.Hold(f)
	}
	return g.Add, func() error {
		if watched != nil {
			launch.Release(watched)
			_ = f.Close() // it never fails
		}
		return undo()
	}, nil
}

// preparePids bounds the processes and threads that load a user's SQL.
const preparePids = 4096

// prepareLimits are the controllers and limits of the group that loads a user's SQL: half of the memory.
func (r *runner) prepareLimits(bounded bool) (controllers []string, l cgroup.Limits) {
	if !bounded {
		return nil, l
	}
	for _, c := range []string{"memory", "pids"} {
		if r.config.Groups.Can(c) == nil {
			controllers = append(controllers, c)
		}
	}
	l.Pids = preparePids
	if all, err := r.config.Groups.Ample(); err == nil {
		l.Memory = all.Memory / 2
	}
	return controllers, l
}

// longStatement is how long a statement of a dump runs before the end of the budget ends it.
const longStatement = 10 * time.Second

// longStatementError is the error about a statement of a dump that still ran when the budget was over.
type longStatementError struct{ serve.Loading }

func (e *longStatementError) Error() string { return stillLoading(e.At, e.Statement) }

// showPreparing shows progress every second until stop is called: of a dump that is loaded into a directory, the
// line. It ends a long statement when the budget is over.
func (l *loadRun) showPreparing(into string, end func(error)) (stop func()) {
	show := func() {
		e := l.event("prepare")
		at, loading := serve.ReadLoading(into)
		if loading {
			e.Loading = fmt.Sprintf("%s, %s", at.At, quantity.Duration(at.Seconds))
		}
		l.run.showProgress(e)
		if budget := seconds(l.run.config.Plan.Record.Budget); loading && e.Elapsed > budget && at.Statement > longStatement.Seconds() {
			end(&longStatementError{at})
		}
	}
	show()
	done, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		t := time.NewTicker(prepareShown)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				show()
			case <-done:
				return
			}
		}
	}()
	return func() { close(done); <-over }
}
