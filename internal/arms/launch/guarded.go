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
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/linux/sched"
	"github.com/tarelab/tare/internal/wire"
)

// Grace is how long beyond the planned end of a step tare may be silent before the guard freezes
// the arms.
const Grace = 5 * time.Second

// ErrSilent means that tare was silent for longer than the step and Grace.
var ErrSilent = errors.New("tare did not run (stopped, suspended or starved of CPU time): the guard froze the arms")

// Guard is the handle of the guard, a process that undoes the changes of a run however tare ends, and
// freezes the arms if tare is silent for too long. The methods of a nil Guard do nothing.
type Guard struct {
	// Inside is the reason why the guard could not leave tare's control group; whoever kills or
	// freezes that group then also hits the guard. nil: the guard is outside.
	Inside error

	pipe     *os.File
	cmd      *exec.Cmd
	watchdog *watchdog
	signals  bool // the arms are stopped by signals

	mu       sync.RWMutex // held for writing while arms that the guard froze are thawed
	held     map[*cgroup.Freezer]*guardedFreezer
	froze    int           // how often the guard froze the arms
	stop     chan struct{} // Allow closes it to end Attend; nil: Attend was not called
	attended chan struct{} // closed when the goroutine of Attend has ended
}

// NewGuard starts the guard of a run whose journal is in stateDir. As root the guard leaves tare's
// control groups; groups may be nil.
func NewGuard(stateDir, run string, groups *cgroup.Tree) (_ *Guard, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	defer r.Close()
	g := &Guard{
		pipe: w, Inside: errors.New("only root can take it out"),
		signals: groups == nil || groups.Can() != nil, held: map[*cgroup.Freezer]*guardedFreezer{},
	}
	if g.watchdog, err = newWatchdog(); err != nil {
		w.Close()
		return nil, err
	}
	g.cmd = exec.Command(selfPath, GuardCommand)
	g.cmd.Args[0] = "tare"
	g.cmd.Dir = "/"
	g.cmd.ExtraFiles = []*os.File{r, g.watchdog.file}
	g.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // Ctrl-C and a hang-up of the terminal do not reach the guard
	if err := g.cmd.Start(); err != nil {
		w.Close()
		g.watchdog.close()
		return nil, fmt.Errorf("start this binary: %w", err)
	}
	own, err := proc.FS("/").Process(os.Getpid())
	if err == nil {
		err = json.NewEncoder(w).Encode(guarded{StateDir: stateDir, Run: run, Signals: g.signals, Tare: os.Getpid(), Start: own.Start})
	}
	if err != nil {
		g.Dismiss()
		return nil, fmt.Errorf("tell the guard its run: %w", err)
	}
	if groups != nil && os.Geteuid() == 0 {
		g.Inside = groups.Leave(g.cmd.Process.Pid)
	}
	return g, nil
}

// Dismiss ends the guard. Steps that are still in the journal are left to tare cleanup.
func (g *Guard) Dismiss() {
	if g == nil {
		return
	}
	g.unattend()
	g.tell(notice{Dismissed: true})
	_ = g.pipe.Close()
	_ = g.cmd.Wait()
	g.watchdog.close()
}

// tell sends a notice. It ignores errors: somebody may have killed the guard.
func (g *Guard) tell(n notice) { _ = json.NewEncoder(g.pipe).Encode(n) }

// Attend is for steps without a planned end: a goroutine renews the deadline every second until the
// next Allow. No window may be open meanwhile, because the goroutine would disturb it.
func (g *Guard) Attend() {
	if g == nil || g.stop != nil {
		return
	}
	g.allow(attendEvery)
	g.stop, g.attended = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(g.attended)
		t := time.NewTicker(attendEvery)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				g.allow(attendEvery)
			case <-g.stop:
				return
			}
		}
	}()
}

// attendEvery is how often Attend renews the deadline.
const attendEvery = time.Second

func (g *Guard) unattend() {
	if g.stop != nil {
		close(g.stop)
		<-g.attended
		g.stop = nil
	}
}

// Allow lets tare be silent for the duration of the next step and Grace. It costs one store and one
// reading of the clock. If the guard has frozen the arms, Allow thaws those that tare has not paused.
func (g *Guard) Allow(step time.Duration) {
	if g == nil {
		return
	}
	g.unattend()
	g.allow(step)
}

func (g *Guard) allow(step time.Duration) {
	if g.watchdog.allow(int64(step + Grace)) {
		g.thaw()
	}
}

// Extend is Allow in the middle of a step. It returns ErrSilent if the guard froze the arms, and
// leaves them frozen until the step ends.
func (g *Guard) Extend(step time.Duration) error {
	if g != nil && g.watchdog.extend(int64(step+Grace)) {
		return ErrSilent
	}
	return nil
}

// Silent is ErrSilent when the guard froze the arms in this step.
func (g *Guard) Silent() error {
	if g != nil && g.watchdog.late() {
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

// freezingBound is how long thaw waits for the guard to finish freezing. A guard that somebody killed
// meanwhile never finishes.
const freezingBound = 30 * time.Second

// thaw thaws the arms that tare has not paused itself.
func (g *Guard) thaw() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for end := time.Now().Add(freezingBound); g.watchdog.words.frozen.Load() == 0 && time.Now().Before(end); {
		sched.SleepUntil(sched.Monotonic() + int64(time.Millisecond))
	}
	g.froze++
	for _, w := range g.held {
		if !w.paused {
			_ = w.Freezer.Thaw() // fails for a group that is gone; its processes are waited for elsewhere
		}
	}
	if g.signals {
		signalBelow(os.Getpid(), syscall.SIGCONT)
	}
}

// guardedFreezer is the freezer of an arm that the guard can freeze too.
type guardedFreezer struct {
	*cgroup.Freezer
	guard  *Guard
	paused bool // by tare
}

// Hold lets the guard freeze an arm too, until Release. A second call for the same freezer changes
// nothing. Hold returns a freezer unchanged if it does not freeze control groups of this host.
func (g *Guard) Hold(f wire.Freezer) wire.Freezer {
	own, ok := f.(*cgroup.Freezer)
	if g == nil || !ok {
		return f
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	w := g.held[own]
	if w == nil {
		w = &guardedFreezer{Freezer: own, guard: g}
		g.held[own] = w
		g.tell(notice{Watch: own.Switches()})
	}
	return w
}

// Release ends Hold. Call it before the freezer is closed.
func Release(f wire.Freezer) {
	w, ok := f.(*guardedFreezer)
	if !ok {
		return
	}
	w.guard.mu.Lock()
	defer w.guard.mu.Unlock()
	if w.guard.held[w.Freezer] == w {
		delete(w.guard.held, w.Freezer)
		w.guard.tell(notice{Forget: w.Switches()})
	}
}

// step notes whether tare wants the arm paused, and freezes or thaws it by do. It waits while
// Guard.thaw thaws the arms.
func (w *guardedFreezer) step(paused bool, do func() error) error {
	w.guard.mu.RLock()
	defer w.guard.mu.RUnlock()
	w.paused = paused
	err := do()
	if err != nil {
		w.paused = false // a freezer that fails has thawed
	}
	return err
}

// Freeze is Ask and Confirm.
func (w *guardedFreezer) Freeze(timeout time.Duration) error {
	return w.step(true, func() error { return w.Freezer.Freeze(timeout) })
}

// Ask tells the kernel to freeze the arm.
func (w *guardedFreezer) Ask() error { return w.step(true, w.Freezer.Ask) }

// Confirm waits until the arm is frozen.
func (w *guardedFreezer) Confirm(timeout time.Duration) error {
	return w.step(true, func() error { return w.Freezer.Confirm(timeout) })
}

// Thaw lets the arm run.
func (w *guardedFreezer) Thaw() error { return w.step(false, w.Freezer.Thaw) }
