package launch

import (
	"encoding/json"
	"errors"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/sched"
	"github.com/tarelab/tare/internal/undo/journal"
)

// GuardCommand is the hidden command of the guard.
const GuardCommand = "__guard"

// Descriptors of the guard: a pipe that closes when tare ends, and the memory of the watchdog.
const (
	guardPipe     = FirstFile
	guardWatchdog = FirstFile + 1
)

// dying is how long tare may still exist after the pipe closed.
const dying = 30 * time.Second

// guarded is the first message on the pipe: the run and where its journal is.
type guarded struct {
	StateDir, Run string
	// Signals says that the arms are in no control groups and the guard stops them by signals.
	Signals bool
	// Tare is the pid of tare, and Start its start time in clock ticks since boot. When the guard reads this, its
	// parent may be another process already: process 1 or a subreaper.
	Tare  int
	Start uint64
}

// notice is each further message.
type notice struct {
	// Watch are groups that the guard freezes when tare is silent for too long. Forget are
	// groups that it no longer watches.
	Watch, Forget []cgroup.Switch
	// Dismissed says that tare has taken back all changes itself.
	Dismissed bool
}

// GuardMain guards a run. When tare ends without taking its changes of the host back, the guard
// does: the kernel ends neither an engine's container nor a frozen process with tare, and a kill
// of tare's control group ends the shims too. The guard freezes the arms when tare is stopped or
// the machine was suspended. kinds are the kinds of steps that it can take back. The exit code is
// 0, or 125 on an error.
func GuardMain(kinds journal.Kinds) int { return exitCode(GuardCommand, guard(kinds)) }

// guard waits until the pipe closes and takes back what the journal has.
func guard(kinds journal.Kinds) error {
	// These signals are for tare, which takes its changes back itself.
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	in := json.NewDecoder(os.NewFile(guardPipe, "pipe"))
	var of guarded
	if err := in.Decode(&of); err != nil {
		return nil // tare ended before it changed anything
	}
	shared, err := mapWatchdog(os.NewFile(guardWatchdog, "watchdog"))
	if err != nil {
		return err
	}
	w := &watch{watchdog: shared, signals: of.Signals, tare: relative{of.Tare, of.Start}, groups: map[cgroup.Switch]bool{}}
	go w.watchDeadline()
	if w.read(in) {
		return nil
	}
	for end := time.Now().Add(dying); ; time.Sleep(50 * time.Millisecond) {
		_, err := journal.Undo(of.StateDir, of.Run, kinds)
		if !errors.Is(err, journal.ErrLive) || time.Now().After(end) {
			return err // the journal keeps the steps that failed, for tare cleanup
		}
	}
}

// watch freezes the arms when tare is silent beyond its deadline. It thaws none: tare knows which
// arms have to run.
type watch struct {
	watchdog *watchdog
	signals  bool
	tare     relative

	mu     sync.Mutex
	groups map[cgroup.Switch]bool
	over   bool // tare has ended, or dismissed the guard
}

// read reads notices until tare ends or dismisses the guard.
func (w *watch) read(in *json.Decoder) (dismissed bool) {
	for {
		var n notice
		err := in.Decode(&n)
		w.mu.Lock()
		for _, s := range n.Watch {
			w.groups[s] = true
		}
		for _, s := range n.Forget {
			delete(w.groups, s)
		}
		w.over = err != nil || n.Dismissed
		w.mu.Unlock()
		if w.over {
			return err == nil
		}
	}
}

// longestLook is how long the guard sleeps before it reads the deadline again: tare may have set
// an earlier one.
const longestLook = 5 * time.Second

// watchDeadline reads the deadline whenever it could have passed.
func (w *watch) watchDeadline() {
	runtime.LockOSThread() // SleepUntilBoottime sleeps in the kernel
	for {
		deadline, now := w.watchdog.words.deadline.Load(), sched.Boottime()
		switch {
		case deadline == 0 || deadline == claimed:
			sched.SleepUntilBoottime(now + int64(time.Second))
		case now < deadline:
			sched.SleepUntilBoottime(min(deadline, now+int64(longestLook)))
		default:
			w.freeze(deadline)
		}
	}
}

// freeze freezes all arms unless tare has set another deadline. It ignores errors: an arm that
// cannot be frozen has ended or runs on, and tare does not listen.
func (w *watch) freeze(deadline int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over || !w.watchdog.claim(deadline) {
		return
	}
	for s := range w.groups {
		_ = s.Freeze()
	}
	if w.signals && w.tare.lives() {
		signalBelow(w.tare.pid, syscall.SIGSTOP)
	}
	w.watchdog.words.frozen.Store(1)
}
