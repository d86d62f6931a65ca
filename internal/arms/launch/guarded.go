package launch

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/sched"
	"github.com/tarelab/tare/internal/wire"
)

// Grace is for how much longer than a step takes tare may be silent before the guard
// freezes its arms.
const Grace = 5 * time.Second

// ErrSilent means that tare was stopped, or the machine suspended, for longer than that.
var ErrSilent = errors.New("tare was stopped, or the machine suspended: the guard froze the arms")

// Guard is tare's end of a process that takes back what a run left, however tare ends, and
// freezes its arms when tare is silent for too long. A nil Guard does nothing.
type Guard struct {
	// Inside is why a kill or a freeze of tare's whole control group would be one of the
	// guard too; nil: it would not.
	Inside error

	pipe    *os.File
	cmd     *exec.Cmd
	silence *silence
	signals bool // the arms are stopped by signals

	mu     sync.RWMutex // held for writing while the arms are thawed that the guard froze
	held   map[*cgroup.Freezer]*Held
	froze  int           // how often the guard did
	attend chan struct{} // closed, the attendance ends; nil: there is none
	ended  chan struct{} // closed, it has ended
}

// NewGuard starts the guard of a run that has its journal in stateDir. As root it is in
// no control group of tare's; groups may be nil.
func NewGuard(stateDir, run string, groups *cgroup.Tree) (_ *Guard, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	defer r.Close()
	g := &Guard{
		pipe: w, Inside: errors.New("only root can take it out"),
		signals: groups == nil || groups.Can() != nil, held: map[*cgroup.Freezer]*Held{},
	}
	if g.silence, err = newSilence(); err != nil {
		w.Close()
		return nil, err
	}
	g.cmd = exec.Command(selfPath, GuardCommand)
	g.cmd.Args[0] = "tare"
	g.cmd.Dir = "/"
	g.cmd.ExtraFiles = []*os.File{r, g.silence.file}
	g.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // neither Ctrl-C nor a terminal that goes is for it
	if err := g.cmd.Start(); err != nil {
		w.Close()
		g.silence.close()
		return nil, fmt.Errorf("start this binary: %w", err)
	}
	if err := json.NewEncoder(w).Encode(guarded{stateDir, run, g.signals}); err != nil {
		g.Dismiss()
		return nil, fmt.Errorf("tell the guard its run: %w", err)
	}
	if groups != nil && os.Geteuid() == 0 {
		g.Inside = groups.Leave(g.cmd.Process.Pid)
	}
	return g, nil
}

// Dismiss ends the guard: everything is taken back, or stays for tare cleanup.
func (g *Guard) Dismiss() {
	if g == nil {
		return
	}
	g.unattend()
	g.tell(notice{Dismissed: true})
	_ = g.pipe.Close()
	_ = g.cmd.Wait()
	g.silence.close()
}

// tell tells the guard, which somebody may have killed.
func (g *Guard) tell(n notice) { _ = json.NewEncoder(g.pipe).Encode(n) }

// Attend lets a goroutine renew what tare may be silent, until the next Allow: for steps
// that have no planned end and hold no window.
func (g *Guard) Attend() {
	if g == nil || g.attend != nil {
		return
	}
	g.allow(attendEvery)
	g.attend, g.ended = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(g.ended)
		t := time.NewTicker(attendEvery)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				g.allow(attendEvery)
			case <-g.attend:
				return
			}
		}
	}()
}

// attendEvery is how often tare is heard of while it attends.
const attendEvery = time.Second

func (g *Guard) unattend() {
	if g.attend != nil {
		close(g.attend)
		<-g.ended
		g.attend = nil
	}
}

// Allow lets tare be silent for as long as the step that begins takes, and Grace. It costs
// a store and a reading of a clock. When the guard froze the arms meanwhile, those are
// thawed that are to run.
func (g *Guard) Allow(step time.Duration) {
	if g == nil {
		return
	}
	g.unattend()
	g.allow(step)
}

func (g *Guard) allow(step time.Duration) {
	if g.silence.allow(int64(step + Grace)) {
		g.thaw()
	}
}

// Extend is Allow in the middle of a step, and leaves to its end what the guard froze; it
// returns ErrSilent then.
func (g *Guard) Extend(step time.Duration) error {
	if g != nil && g.silence.extend(int64(step+Grace)) {
		return ErrSilent
	}
	return nil
}

// Silent is ErrSilent when the guard froze the arms in this step.
func (g *Guard) Silent() error {
	if g != nil && g.silence.late() {
		return ErrSilent
	}
	return nil
}

// Froze is how often the guard has frozen the arms so far.
func (g *Guard) Froze() int {
	if g == nil {
		return 0
	}
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.froze
}

// freezingBound is how long a guard that has begun to freeze may take; one that is killed
// then does not come to an end.
const freezingBound = 30 * time.Second

// thaw lets run again what tare has not paused itself.
func (g *Guard) thaw() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for end := time.Now().Add(freezingBound); g.silence.words.frozen.Load() == 0 && time.Now().Before(end); {
		sched.SleepUntil(sched.Monotonic() + int64(time.Millisecond))
	}
	g.froze++
	for _, h := range g.held {
		if !h.paused {
			_ = h.Freezer.Thaw() // a group that is gone: whoever waits for its processes says so
		}
	}
	if g.signals {
		signalBelow(os.Getpid(), syscall.SIGCONT)
	}
}

// Held is the freezer of an arm that the guard can freeze too.
type Held struct {
	*cgroup.Freezer
	guard  *Guard
	paused bool // by tare
}

// Hold tells the guard of a freezer, once, until Release. What is no freezer of groups here
// stays as it is.
func (g *Guard) Hold(f wire.Freezer) wire.Freezer {
	own, ok := f.(*cgroup.Freezer)
	if g == nil || !ok {
		return f
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	h := g.held[own]
	if h == nil {
		h = &Held{Freezer: own, guard: g}
		g.held[own] = h
		g.tell(notice{Watch: own.Switches()})
	}
	return h
}

// Release ends what Hold began: call it before the freezer is closed.
func Release(f wire.Freezer) {
	h, ok := f.(*Held)
	if !ok {
		return
	}
	h.guard.mu.Lock()
	defer h.guard.mu.Unlock()
	if h.guard.held[h.Freezer] == h {
		delete(h.guard.held, h.Freezer)
		h.guard.tell(notice{Forget: h.Switches()})
	}
}

// step changes what tare wants of the arm, not while all are thawed.
func (h *Held) step(paused bool, do func() error) error {
	h.guard.mu.RLock()
	defer h.guard.mu.RUnlock()
	h.paused = paused
	err := do()
	if err != nil {
		h.paused = false // a freezer that fails has thawed
	}
	return err
}

// Freeze is Freezer.Freeze, and so on.
func (h *Held) Freeze(timeout time.Duration) error {
	return h.step(true, func() error { return h.Freezer.Freeze(timeout) })
}

// Ask is the first half of Freeze.
func (h *Held) Ask() error { return h.step(true, h.Freezer.Ask) }

// Confirm is the second half of Freeze.
func (h *Held) Confirm(timeout time.Duration) error {
	return h.step(true, func() error { return h.Freezer.Confirm(timeout) })
}

// Thaw lets the arm run.
func (h *Held) Thaw() error { return h.step(false, h.Freezer.Thaw) }
