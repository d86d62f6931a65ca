package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/undo/trust"
)

// ErrLive means that the run, or another cleanup of it, still goes on.
var ErrLive = errors.New("the run is still going on, or another cleanup of it")

// ErrDamaged means that a journal, or a line of it, cannot be read, or is of another version of tare.
var ErrDamaged = errors.New("damaged")

// damaged is the error about a journal that Undo keeps, with what ends it.
func damaged(path string, why error) error {
	return hint.New(fmt.Errorf("%s is %w and is kept: %w", path, ErrDamaged, why),
		"each line names a change: take back by hand what is left of it, then rm "+hint.Quote(path))
}

// Kept is the error about a journal with a step that is never undone; nil: the report has none.
func (r Report) Kept(stateDir, run string) error {
	for _, f := range r.Failed {
		if errors.Is(f.Err, ErrNotOwn) {
			return damaged(journalFile(stateDir, run), ErrNotOwn)
		}
	}
	return nil
}

// Report is the result of Undo.
type Report struct {
	Undone []Step
	Failed []Failure
}

// Failure is a step that could not be undone.
type Failure struct {
	Step Step
	Err  error
}

// Undo undoes the steps that a run left when its process ended, the newest first. It goes on
// after errors, and removes the journal if no step is left. It may be repeated, and waits for
// another Undo of the same run. A journal with a line that cannot be read, or a step of a kind that is not in kinds, is
// damaged: the others are undone, and it is kept. Failed steps are in the report; the error is about the journal
// itself.
func Undo(stateDir, run string, kinds Kinds) (Report, error) {
	return undo(stateDir, run, kinds, undoBound)
}

// undo is Undo with a time limit for the wait for another Undo.
func undo(stateDir, run string, kinds Kinds, within time.Duration) (Report, error) {
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
	c, err := load(f, kinds)
	if !c.header.alive() {
		if err = lockWithin(f, unix.LOCK_EX, within); err == nil {
			c, err = load(f, kinds) // another Undo may have changed the file before
		}
	}
	if c.header.alive() || errors.Is(err, ErrLive) {
		return Report{}, fmt.Errorf("undo run %s: %w", run, ErrLive)
	}
	if err != nil { // the readable steps are undone, and the journal stays as it is
		return c.undo(run, nil), damaged(path, err)
	}
	_ = f.Truncate(int64(c.whole)) // note appends whole lines: cut off a torn last line
	r := c.undo(run, f)
	if len(r.Failed) > 0 {
		return r, nil
	}
	return r, removeIfThere(path)
}

// lockWithin takes the lock, shared or exclusive, or returns ErrLive after the time within. It does not
// return ErrLive at once, because other processes may hold the lock for a moment: one that reads the
// journal, or a child that the killed run had just forked, until it executes its program.
func lockWithin(f *os.File, how int, within time.Duration) error {
	for end := time.Now().Add(within); ; time.Sleep(5 * time.Millisecond) {
		err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return nil // the lock is taken, or the file system has no locks
		}
		if time.Now().After(end) {
			return ErrLive
		}
	}
}

// lockBound is how long a reader waits for the lock, undoBound how long Undo waits for another
// Undo.
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

// undo undoes each step, the newest first, and then tries failed steps once more: undoing the older
// steps may have ended a process or emptied a directory.
func (c content) undo(run string, f *os.File) Report {
	var r Report
	boot := c.header.writtenIn()
	u := &Undoing{Run: run, Late: time.Now().Add(lateBound), StartUnknown: boot == unknownBoot}
	left := c.steps
	var stay []Failure // not tried again, see Stays
	for u.Round = 1; u.Round <= 2; u.Round++ {
		var failed []pending
		r.Failed = nil
		for _, p := range slices.Backward(left) {
			u.token = p.token
			err := undoStep(p.step, boot, u)
			switch {
			case err == nil:
				r.Undone = append(r.Undone, p.step)
				note(f, p.token)
			case staying(err):
				stay = append(stay, Failure{p.step, err})
			default:
				failed = append(failed, p)
				r.Failed = append(r.Failed, Failure{p.step, err})
			}
		}
		slices.Reverse(failed)
		left = failed
	}
	r.Failed = append(r.Failed, stay...)
	for _, p := range slices.Backward(c.steps) {
		if f := u.atEnd[p.token]; f != nil {
			f()
		}
	}
	return r
}

// lateBound is how long a daemon may go on with a request of a client that was killed. On a
// host short of CPU time Docker has taken more than a second to load an image.
const lateBound = 6 * time.Second

// undoStep undoes one step. It refuses a step that is not the run's own, and skips a change that a restart
// of the machine has ended.
func undoStep(s Step, boot writtenIn, u *Undoing) error {
	if err := check(s, u.Run); err != nil {
		return err
	}
	if boot == earlierBoot && !s.Lasts() {
		return nil
	}
	return s.Undo(u)
}

// note writes that a step is undone. If that fails (a full or read-only disk, or f is nil), a
// later cleanup undoes the step again.
func note(f *os.File, t Token) {
	if f == nil {
		return
	}
	if b, err := json.Marshal(line{Done: t}); err == nil {
		_, _ = f.Write(append(b, '\n'))
	}
}
