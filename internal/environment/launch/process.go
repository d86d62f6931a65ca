package launch

import (
	"errors"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/environment"
	"github.com/tarelab/tare/internal/linux/cgroup"
)

// Process is a started child; it is an environment.Running.
type Process struct {
	cmd   *exec.Cmd
	group cgroup.Group
	ooms  uint64 // kills in the group before it started
	done  chan struct{}
	exit  environment.Exit
}

var _ environment.Running = (*Process)(nil)

// newProcess waits for a started command.
func newProcess(cmd *exec.Cmd, group cgroup.Group) *Process {
	p := &Process{cmd: cmd, group: group, done: make(chan struct{})}
	p.ooms, _ = oomKills(group)
	go func() {
		defer close(p.done)
		p.exit = exitOf(cmd.Wait(), cmd.ProcessState)
		if n, ok := oomKills(group); ok && p.exit.Signal == "SIGKILL" && n > p.ooms {
			p.exit.OOM = true
		}
	}()
	return p
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
	e := environment.Exit{Code: state.ExitCode()}
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		e.Signal = unix.SignalName(ws.Signal())
	}
	return e
}

// Pid is the process as the host numbers it.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit is how it ended; valid after Done.
func (p *Process) Exit() environment.Exit { return p.exit }

// Kill ends the process and what it started, frozen or not.
func (p *Process) Kill() error {
	err := p.cmd.Process.Kill()
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	// Its process group, and the thaw that version 1 needs to let it die.
	_ = unix.Kill(-p.Pid(), unix.SIGKILL)
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
