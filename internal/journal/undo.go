package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/hint"
	"github.com/tarelab/tare/internal/kube"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/trust"
)

// ErrLive means that a run, or another cleanup of it, still goes on.
var ErrLive = errors.New("the run is still going on, or another cleanup of it")

// Report is what Undo did.
type Report struct {
	Undone []Step
	Failed []Failure
}

// Failure is a step that could not be taken back.
type Failure struct {
	Step Step
	Err  error
}

// Undo takes back what a run that is gone left, newest first, going on after
// errors, and removes the journal when nothing is left. It may be repeated.
// Another one of the same run is waited for. The error is about the journal itself; steps that failed are in the report.
func Undo(stateDir, run string) (Report, error) { return undo(stateDir, run, undoBound) }

// undo is Undo with a bound for the wait for another one.
func undo(stateDir, run string, within time.Duration) (Report, error) {
	if err := checkRun(run); err != nil {
		return Report{}, err
	}
	path := journalFile(stateDir, run)
	f, err := trust.Open(path, os.O_RDWR|os.O_APPEND)
	if err != nil {
		return Report{}, fmt.Errorf("open the undo journal of run %s: %w", run, err)
	}
	defer f.Close() // and unlock
	if err := trust.File(f); err != nil {
		return Report{}, fmt.Errorf("undo run %s: %w", run, err)
	}
	c, err := load(f)
	if !c.header.alive() {
		if err = own(f, unix.LOCK_EX, within); err == nil {
			c, err = load(f) // another one may have gone before
		}
	}
	if c.header.alive() || errors.Is(err, ErrLive) {
		return Report{}, fmt.Errorf("undo run %s: %w", run, ErrLive)
	}
	if err != nil { // what can be read is taken back, and the journal stays as it is
		return c.undo(run, nil), hint.New(fmt.Errorf("%s is damaged and is kept: %w", path, err),
			"it names what is left, a line each; remove it when nothing of the run is there any longer")
	}
	_ = f.Truncate(int64(c.whole)) // what is noted below starts on its own line
	r := c.undo(run, f)
	if len(r.Failed) > 0 {
		return r, nil
	}
	return r, removeIfThere(path)
}

// own takes the lock, shared or exclusive, or returns ErrLive. Others hold it
// for a moment: one that only looks at the journal, and a child that the run
// forked just before it was killed, until it executes its program.
func own(f *os.File, how int, within time.Duration) error {
	for end := time.Now().Add(within); ; time.Sleep(5 * time.Millisecond) {
		err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return nil // ours, or the file system has no locks
		}
		if time.Now().After(end) {
			return ErrLive
		}
	}
}

// Who looks waits for the lock no longer than lockBound; who undoes, for another that
// does the same, than undoBound.
const (
	lockBound = 500 * time.Millisecond
	undoBound = time.Minute
)

func removeIfThere(path string) error {
	if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// undo tries each step, and what failed once more at the end: a process can
// leave, a directory be emptied, when later steps have been taken back.
func (c content) undo(run string, f *os.File) Report {
	var r Report
	since := c.header.since()
	left := c.steps
	all := together{late: time.Now().Add(lateBound)}
	var stays []Failure // to ask for them again at once is of no use
	for range 2 {
		var failed []pending
		r.Failed, all.failed = nil, map[Step]error{}
		for _, p := range slices.Backward(left) {
			err := p.step.undo(run, since, &all)
			if why := new(kube.StaysError); errors.As(err, &why) {
				stays = append(stays, Failure{p.step, err})
				continue
			}
			if err != nil {
				failed = append(failed, p)
				r.Failed = append(r.Failed, Failure{p.step, err})
				continue
			}
			r.Undone = append(r.Undone, p.step)
			note(f, p.token)
		}
		slices.Reverse(failed)
		left = failed
	}
	r.Failed = append(r.Failed, stays...)
	c.disable(run, since)
	return r
}

// together is what the steps of one undoing share.
type together struct {
	silences kube.Silences // of clusters that several steps ask
	// late is until when what the killed run has asked for may still come: it is removed
	// once more then.
	late time.Time
	// failed are steps in a cluster, each of which every arm has, in this round: what
	// stays for minutes is waited for once.
	failed map[Step]error
}

// disable undoes the groups once more: a controller that was enabled for one of them
// can be disabled when the last is gone. What others use stays, and is no failure.
func (c content) disable(run string, since since) {
	for _, p := range slices.Backward(c.steps) {
		if due, err := p.step.due(run, since); due && err == nil && p.step.Kind == kindGroup && p.step.Plan.EnableAt != "" {
			_ = cgroup.Undo(*p.step.Plan)
		}
	}
}

// note writes that a step is undone. When that fails, for the disk is full or
// read-only, or f is nil, a later cleanup undoes it once more.
func note(f *os.File, t Token) {
	if f == nil {
		return
	}
	if b, err := json.Marshal(line{Done: t}); err == nil {
		_, _ = f.Write(append(b, '\n'))
	}
}

// due says whether a step is to be taken back: one that is not tare's is an error, and what
// ended with the machine is not tried. A process is known by its number and the ticks from
// the machine's start to its own, which another start has too.
func (s Step) due(run string, since since) (bool, error) {
	if err := s.check(run); err != nil {
		return false, err
	}
	if undoers[s.Kind] == nil {
		return true, nil
	}
	if s.Kind == kindProcess && since == sinceUnknown {
		return false, hint.New(fmt.Errorf("process %d: the journal does not say which start of this machine it is of", s.Pid),
			"look whether it is tare's, and end it by hand")
	}
	return since != sinceEarlier, nil
}

// undo takes one step back.
func (s Step) undo(run string, since since, all *together) error {
	if due, err := s.due(run, since); err != nil || !due {
		return err
	}
	switch s.Kind {
	case kindDirectory:
		return RemoveDirectory(s.Path)
	case kindRuntime:
		if err := EndRuntime(s.Path); err != nil {
			return err
		}
		return RemoveDirectory(s.Path)
	case kindEngine:
		return removeContainer(s, run, all.late)
	case kindNamespace, kindPods: // live on in the cluster
		return removeFromCluster(s, all)
	case kindPodImage:
		return removePodImage(s)
	case kindImage: // another machine has it
		return removeImage(s)
	case kindShare, kindCeph:
		return Unshare(s)
	}
	return undoers[s.Kind](s)
}

// undoers is how each kind of step is taken back whose change ends with the
// machine. Each does nothing when there is nothing to undo.
var undoers = map[string]func(Step) error{
	kindGroup:     func(s Step) error { return cgroup.Undo(*s.Plan) },
	kindMount:     func(s Step) error { return Unmount(s.Path) },
	kindProcess:   killProcess,
	kindContainer: deleteContainer,
	kindClass:     removeClass,
	kindMapping:   func(s Step) error { return s.image().Unmap() },
}
