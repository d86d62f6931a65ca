package launch

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/linux/cgroup"
)

// Process is a process in an arm. Its parent is tare, a shim, an agent or an engine; the parent
// waits for it and reports how it ended. tare signals it by a pidfd, which never refers to another
// process. It is an environment.Running.
type Process struct {
	pid, pidfd int
	leads      bool         // of its process group, which Kill kills too
	group      cgroup.Group // where its memory is accounted, and where it may be frozen
	ooms       uint64       // out-of-memory kills in the group before openProcess
	done       chan struct{}
	exit       environment.Exit

	mu               sync.Mutex
	released, killed bool // the pidfd is closed; Kill was called
}

var _ environment.Running = (*Process)(nil)

// openProcess opens a pidfd of a process that exists and has not been waited for.
func openProcess(pid int, group cgroup.Group) (*Process, error) {
	p := &Process{pid: pid, group: group, done: make(chan struct{})}
	p.ooms, _ = oomKills(group)
	var err error
	if p.pidfd, err = unix.PidfdOpen(pid, 0); err != nil {
		return nil, fmt.Errorf("hold process %d: %w", pid, err)
	}
	return p, nil
}

// openChild is openProcess for a started command, and waits for the command.
func openChild(cmd *exec.Cmd, group cgroup.Group) (*Process, error) {
	p, err := openProcess(cmd.Process.Pid, group)
	if err != nil {
		return nil, errors.Join(err, cmd.Process.Kill(), cmd.Wait())
	}
	p.leads = true
	go func() {
		err := cmd.Wait()
		p.end(func() environment.Exit { return exitOf(err, cmd.ProcessState) })
	}()
	return p, nil
}

// AddProcess makes the process at the other end of a connection a process of the arm, which Close ends.
// exit is called when it has ended and returns how.
func (g *Sandbox) AddProcess(v *HandoffConn, exit func() environment.Exit) (environment.Running, error) {
	p, err := openProcess(v.Pid, g.Group)
	if err != nil {
		return nil, err
	}
	go func() {
		for !p.ended(time.Minute) {
		}
		p.end(exit)
	}()
	return p, g.track(p)
}

// end closes Done when the process has ended; exit returns how. The out-of-memory kills are read
// first: an engine that notices the end removes the group.
func (p *Process) end(exit func() environment.Exit) {
	defer close(p.done)
	kills, counted := oomKills(p.group)
	p.release()
	p.exit = exit()
	if p.exit.Signal == "SIGKILL" && counted && kills > p.ooms {
		p.exit.OOM = true
	}
}

// release closes the pidfd. It may be called twice.
func (p *Process) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.released {
		unix.Close(p.pidfd)
	}
	p.released = true
}

// ended says whether the process ends within a time. release must not be called meanwhile.
func (p *Process) ended(within time.Duration) bool {
	polled := []unix.PollFd{{Fd: int32(p.pidfd), Events: unix.POLLIN}}
	n, err := unix.Poll(polled, int(within.Milliseconds()))
	return n > 0 || err != nil && !errors.Is(err, unix.EINTR)
}

// oomKills is the group's count of out-of-memory kills; false where it has none.
func oomKills(g cgroup.Group) (uint64, bool) {
	if g.Tree == nil {
		return 0, false
	}
	n, err := g.OOMKills()
	return n, err == nil
}

func exitOf(err error, state *os.ProcessState) environment.Exit {
	var exit *exec.ExitError
	if state == nil || err != nil && !errors.As(err, &exit) {
		return environment.Exit{Code: -1, Err: err}
	}
	return exitStatus(state.Sys().(syscall.WaitStatus))
}

func exitStatus(status syscall.WaitStatus) environment.Exit {
	if status.Signaled() {
		return environment.Exit{Code: -1, Signal: unix.SignalName(status.Signal())}
	}
	return environment.Exit{Code: status.ExitStatus()}
}

// Pid is the pid on the host.
func (p *Process) Pid() int { return p.pid }

// Done is closed when it has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit is how it ended. Valid after Done.
func (p *Process) Exit() environment.Exit { return p.exit }

// Kill kills the process, frozen or not. A child of tare is killed with its process group.
func (p *Process) Kill() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.released {
		return nil
	}
	p.killed = true
	err := unix.PidfdSendSignal(p.pidfd, unix.SIGKILL, nil, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil // it was waited for; another process may have its pid
	}
	if p.leads {
		_ = unix.Kill(-p.pid, unix.SIGKILL)
	}
	thaw(p.group)
	return err
}

// thaw thaws a group: with version 1 a frozen process dies when it is thawed.
func thaw(g cgroup.Group) {
	if _, err := g.Dir("freezer"); err != nil {
		return
	}
	if f, err := g.Freezer(); err == nil {
		_ = f.Thaw()
		f.Close()
	}
}
