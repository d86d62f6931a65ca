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

// Process is a process in an arm, whoever its parent is: tare, a shim, an agent or an
// engine. Its parent waits for it and knows how it ended; it is held and signalled by
// a descriptor, which never means another process. It is an environment.Running.
type Process struct {
	pid, pidfd int
	leads      bool         // a process group, which is killed with it
	group      cgroup.Group // where its memory is accounted, and where it may be frozen
	ooms       uint64       // kills in the group before it was held
	done       chan struct{}
	exit       environment.Exit

	mu               sync.Mutex
	released, killed bool // the descriptor; by Kill
}

var _ environment.Running = (*Process)(nil)

// hold holds a process that is there and has not been waited for.
func hold(pid int, group cgroup.Group) (*Process, error) {
	p := &Process{pid: pid, group: group, done: make(chan struct{})}
	p.ooms, _ = oomKills(group)
	var err error
	if p.pidfd, err = unix.PidfdOpen(pid, 0); err != nil {
		return nil, fmt.Errorf("hold process %d: %w", pid, err)
	}
	return p, nil
}

// holdChild holds a command that has been started, and waits for it.
func holdChild(cmd *exec.Cmd, group cgroup.Group) (*Process, error) {
	p, err := hold(cmd.Process.Pid, group)
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

// Hold holds the process at the other end of a connection, to be ended with the arm.
// ended tells how it ended, once it has.
func (g *Sandbox) Hold(v *HandoffConn, ended func() environment.Exit) (environment.Running, error) {
	p, err := hold(v.Pid, g.Group)
	if err != nil {
		return nil, err
	}
	go func() {
		for !p.ended(time.Minute) {
		}
		p.end(ended)
	}()
	return p, g.track(p)
}

// end closes Done once the process has ended; how tells in which way. The kills are
// counted before: an engine removes the group, and the count with it, when it notices.
func (p *Process) end(how func() environment.Exit) {
	defer close(p.done)
	kills, counted := oomKills(p.group)
	p.release()
	p.exit = how()
	if p.exit.Signal == "SIGKILL" && counted && kills > p.ooms {
		p.exit.OOM = true
	}
}

// release gives the descriptor back. It may be called twice.
func (p *Process) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.released {
		unix.Close(p.pidfd)
	}
	p.released = true
}

// ended says whether the process ends within a time. It must not be released meanwhile.
func (p *Process) ended(within time.Duration) bool {
	polled := []unix.PollFd{{Fd: int32(p.pidfd), Events: unix.POLLIN}}
	n, err := unix.Poll(polled, int(within.Milliseconds()))
	return n > 0 || err != nil && !errors.Is(err, unix.EINTR)
}

// oomKills reads the group's count, where it has one.
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

// Pid is the process as the host numbers it.
func (p *Process) Pid() int { return p.pid }

// Done is closed when it has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit is how it ended; valid after Done.
func (p *Process) Exit() environment.Exit { return p.exit }

// Kill ends it, frozen or not; a child of tare's with what is in its process group.
func (p *Process) Kill() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.released {
		return nil
	}
	p.killed = true
	err := unix.PidfdSendSignal(p.pidfd, unix.SIGKILL, nil, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil // it has been waited for, and its number may be another's
	}
	if p.leads {
		_ = unix.Kill(-p.pid, unix.SIGKILL)
	}
	thaw(p.group)
	return err
}

// thaw lets frozen processes run on: those of version 1 die only then.
func thaw(g cgroup.Group) {
	if _, err := g.Dir("freezer"); err != nil {
		return
	}
	if f, err := g.Freezer(); err == nil {
		_ = f.Thaw()
		f.Close()
	}
}
