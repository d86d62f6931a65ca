package run

import (
	"cmp"
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
	"github.com/tarelab/tare/internal/databases/dataset"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/reserve"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/undo/journal/steps"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/record"
)

const (
	// prepareTimeout is for data sets of the published sizes on a slow disk.
	// Whoever waits sees how long it has taken, and can end it.
	prepareTimeout = 2 * time.Hour
	// readyTimeout is how long a small load may take until it is ready, and
	// readyRate how many bytes of data a server may take a second more for.
	readyTimeout = 30 * time.Second
	readyRate    = 20 << 20
	// prepareShown is how often the progress says that preparing goes on.
	prepareShown = time.Second
)

// prepare builds every data set that the arms need, once, by its key, and
// holds those of the cache until release.
func (l *loadRun) prepare(ctx context.Context) error {
	l.data = map[string]dataset.Prepared{}
	for _, n := range l.prepared() {
		s := n.Stages
		if _, ok := l.data[s.Key]; ok {
			continue
		}
		name := "data-" + l.load.Name
		if n := len(l.data); n > 0 {
			name += fmt.Sprint("-", n)
		}
		p, err := l.prepareOne(ctx, s, name)
		if err != nil {
			return n.about(err)
		}
		if p.Key != "" {
			r, err := dataset.Set{Dir: p.Dir, Marker: dataset.Marker{Key: p.Key}}.Hold()
			if err != nil {
				return err
			}
			l.held = append(l.held, r)
		}
		l.data[s.Key] = p
	}
	return nil
}

// needy are stages that work on a data set, and the neighbour whose they are;
// nil: they are an arm's.
type needy struct {
	workload.Stages
	of *plan.Neighbour
}

func (n needy) about(err error) error {
	if n.of == nil {
		return err
	}
	return fmt.Errorf("neighbour %s: %w", n.of.Name, err)
}

// prepared are those of the arms, then those of their neighbours.
func (l *loadRun) prepared() (all []needy) {
	for _, a := range l.load.Arms {
		if a.Stages.Prepare != nil {
			all = append(all, needy{Stages: a.Stages})
		}
	}
	for _, a := range l.load.Arms {
		if a.Neighbour != nil && a.Neighbour.Stages.Prepare != nil {
			all = append(all, needy{a.Neighbour.Stages, a.Neighbour})
		}
	}
	return all
}

// prepareOne has one data set built, or found in the cache.
func (l *loadRun) prepareOne(ctx context.Context, s workload.Stages, name string) (dataset.Prepared, error) {
	var none dataset.Prepared
	dir := filepath.Join(l.scratch, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return none, fmt.Errorf("prepare the data set: %w", err)
	}
	ctx, stop := context.WithTimeout(ctx, prepareTimeout)
	defer stop()
	defer l.stillPreparing()()
	log := filepath.Join(l.Dir, record.RawDir, strings.TrimPrefix(name, "data-")+"-prepare.log")
	enter, leave, err := l.preparing()
	if err != nil {
		return none, fmt.Errorf("prepare the data set: %w", err)
	}
	if err := errors.Join(runSelf(ctx, s.Prepare(dir), log, enter), leave()); err != nil {
		if errors.Is(context.Cause(ctx), reserve.ErrShort) {
			err = errors.Join(err, giveRoomBack())
		}
		remedy := "see " + log
		if errors.Is(err, reserve.ErrShort) {
			remedy = cacheRemedy
		}
		return none, hint.New(fmt.Errorf("prepare the data set: %w%s", err, lastLines(log)), remedy)
	}
	p, err := dataset.Resolve(dir)
	if err != nil {
		return none, err
	}
	if p.Instead != "" {
		l.warn(record.Warning{Workload: l.load.Name, Text: "prepared anew, for the data set in the cache is not used: " + p.Instead})
	}
	if len(p.Versions) > 0 {
		if l.Manifest.Versions == nil {
			l.Manifest.Versions = map[string]string{}
		}
		maps.Copy(l.Manifest.Versions, p.Versions)
	}
	return p, nil
}

// giveRoomBack removes what a process that was ended had prepared. After Ctrl-C, which does
// not wait for that, the next run or tare cleanup does it.
func giveRoomBack() error {
	store, err := dataset.Default()
	if err != nil {
		return err
	}
	_, err = store.Prune(func(e dataset.Entry) bool { return e.Unfinished })
	return err
}

// onData is where things are for a load on a prepared data set. Which program its server
// is and, for a process beside the arm, the password come from what tare keeps: what runs
// in the arm may write in the copy.
func onData(at wire.Place, p dataset.Prepared) wire.Place {
	at.Program = p.Program
	if p.Key != "" {
		at.ClientVolume = cmp.Or(at.ClientVolume, p.Dir)
	}
	return at
}

// preparing is a control group for what prepares: the programs that install a database
// start others, which would go on writing when their parents have been killed. A user who
// can have no groups goes without.
func (l *loadRun) preparing() (enter func(pid int) error, leave func() error, err error) {
	enter, leave = func(int) error { return nil }, func() error { return nil }
	if l.Groups == nil {
		return enter, leave, nil
	}
	path := "tare-" + l.ID + "/prepare"
	p, err := l.Groups.Plan(path, nil)
	if err != nil {
		return enter, leave, nil
	}
	var g cgroup.Group
	undo, err := l.journal.Record(steps.Group{Plan: p}, func() error { return g.Remove() })
	if err != nil {
		return nil, nil, err
	}
	if g, err = l.Groups.Make(path, nil); err != nil { // it has taken back what it made
		return enter, undo, nil
	}
	var watched wire.Freezer
	f, err := g.Freezer()
	if err == nil {
		watched = l.guard.Hold(f)
	}
	return g.Add, func() error {
		if watched != nil {
			launch.Release(watched)
			_ = f.Close() // it never fails
		}
		return undo()
	}, nil
}

// stillPreparing shows that preparing goes on until it is told to stop.
func (l *loadRun) stillPreparing() (stop func()) {
	l.event(l.at("prepare"))
	done, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		t := time.NewTicker(prepareShown)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				l.event(l.at("prepare"))
			case <-done:
				return
			}
		}
	}()
	return func() { close(done); <-over }
}

// readyWithin is how long a load may take until it is ready beside others of
// the same launch: a server reads what it was given.
func (l *loadRun) readyWithin(launched int) time.Duration {
	most := int64(0)
	for _, p := range l.data {
		most = max(most, p.Bytes)
	}
	return readyTimeout + time.Duration(most/readyRate)*time.Second*time.Duration(launched)
}
