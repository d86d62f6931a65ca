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

// GuardCommand is the hidden command that GuardMain implements.
const GuardCommand = "__guard"

// A guard's descriptors: a pipe that ends with tare, and the memory of a silence.
const (
	guardPipe    = FirstFile
	guardSilence = FirstFile + 1
)

// dying is how long tare may take to be gone after the end of the pipe.
const dying = 30 * time.Second

// guarded is what the pipe says first: whose end it is, in which journal.
type guarded struct {
	StateDir, Run string
	// Signals says that the arms are in no control group: they are stopped by signals.
	Signals bool
}

// notice is each of what the pipe says then.
type notice struct {
	// Watch are groups to be frozen when tare is silent for too long, Forget those of
	// them that end.
	Watch, Forget []cgroup.Switch
	// Dismissed says that tare has taken back everything itself.
	Dismissed bool
}

// GuardMain guards a run. When tare has ended and left changes of the host, the guard takes
// them back: the kernel ends neither an engine's container nor a frozen process with tare, and
// a kill of tare's control group ends the shims too. The guard also freezes the arms when tare
// is stopped, or the machine was suspended. kinds are the steps that it can take back. The exit
// code is 0, or 125 on an error.
func GuardMain(kinds journal.Kinds) int { return said(GuardCommand, guard(kinds)) }

// guard waits for the end of the pipe.
func guard(kinds journal.Kinds) error {
	// Tare ends by these, and then says so or not.
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	in := json.NewDecoder(os.NewFile(guardPipe, "pipe"))
	var of guarded
	if err := in.Decode(&of); err != nil {
		return nil // tare ended before it changed anything
	}
	shared, err := mapSilence(os.NewFile(guardSilence, "silence"))
	if err != nil {
		return err
	}
	w := &watch{silence: shared, signals: of.Signals, tare: os.Getppid(), groups: map[cgroup.Switch]bool{}}
	go w.keep()
	if w.hear(in) {
		return nil
	}
	for end := time.Now().Add(dying); ; time.Sleep(50 * time.Millisecond) {
		_, err := journal.Undo(of.StateDir, of.Run, kinds)
		if !errors.Is(err, journal.ErrLive) || time.Now().After(end) {
			return err // what could not be taken back stays in the journal, for tare cleanup
		}
	}
}

// watch freezes the arms of a tare that is silent for longer than it said. It thaws
// nothing: when tare is back it knows what is to run.
type watch struct {
	silence *silence
	signals bool
	tare    int // its pid

	mu     sync.Mutex
	groups map[cgroup.Switch]bool
	over   bool // tare has ended: what it left is taken back
}

// hear follows what the pipe says, and says in the end whether tare dismissed the guard.
func (w *watch) hear(in *json.Decoder) (dismissed bool) {
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

// longestLook is after how long the guard looks again at a deadline that is further away,
// or is none: tare may have set a nearer one.
const longestLook = 5 * time.Second

// keep looks at the deadline whenever it could have passed.
func (w *watch) keep() {
	runtime.LockOSThread() // it sleeps in the kernel
	for {
		deadline, now := w.silence.words.deadline.Load(), sched.Boottime()
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

// freeze freezes all arms if the deadline is still the one that has passed. What cannot be
// frozen is gone, or runs on: tare is silent, and there is nobody else to tell.
func (w *watch) freeze(deadline int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over || !w.silence.claim(deadline) {
		return
	}
	for s := range w.groups {
		_ = s.Freeze()
	}
	if w.signals {
		signalBelow(w.tare, syscall.SIGSTOP)
	}
	w.silence.words.frozen.Store(1)
}
