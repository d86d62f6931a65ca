package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/environment"
	"github.com/tarelab/tare/internal/linux/cgroup"
)

// Container is a process in a container of an OCI runtime; it is an
// environment.Running.
type Container struct {
	pid   int
	pidfd int
	group cgroup.Group
	ooms  uint64
	shim  *Process
	conn  *net.UnixConn
	done  chan struct{}
	exit  environment.Exit

	mu     sync.Mutex
	closed bool // pidfd
}

var _ environment.Running = (*Container)(nil)

// execBound is how long a started container may take to become the load.
const execBound = 10 * time.Second

// StartContainer starts a child that looks after a container and returns when
// the container runs this binary. Request.Runtime says which; Child.Group is
// the group that the container is put into, the child itself is in none.
func (t *Thread) StartContainer(ctx context.Context, c Child) (*Container, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	parent, child, err := socketPair()
	if err != nil {
		return nil, err
	}
	c.Clone = unix.CLONE_NEWNS
	cmd := command(c, child)
	cmd.SysProcAttr.Pdeathsig = 0 // it has to end the container first
	err = t.start(cmd.Start)
	child.Close()
	if err != nil {
		parent.Close()
		return nil, fmt.Errorf("start this binary: %w", err)
	}
	k := &Container{pidfd: -1, group: c.Group, conn: parent, shim: newProcess(cmd, cgroup.Group{}), done: make(chan struct{})}
	stop := context.AfterFunc(ctx, func() { parent.Close() })
	l := newLine(parent)
	err = k.bring(c, l)
	if !stop() {
		err = errors.Join(ctx.Err(), err)
	}
	if err != nil {
		parent.Close() // the child ends the container and itself
		<-k.shim.Done()
		k.release()
		return nil, err
	}
	go k.await(l)
	return k, nil
}

// bring gets the container created, into its group, and started.
func (k *Container) bring(c Child, l line) error {
	if err := c.Keeper(k.shim.Pid()); err != nil {
		return err
	}
	r := c.Request
	r.Files, r.MountNS = len(c.Files), true
	if err := l.out.Encode(r); err != nil {
		return fmt.Errorf("send the request: %w", err)
	}
	m, err := l.receive()
	if err != nil {
		return gone(err)
	}
	k.pid = m.Created
	if k.pidfd, err = unix.PidfdOpen(k.pid, 0); err != nil {
		return fmt.Errorf("hold the container's process: %w", err)
	}
	if err := k.join(); err != nil {
		return err
	}
	if c.Created != nil {
		if err := c.Created(); err != nil {
			return err
		}
	}
	k.ooms, _ = oomKills(k.group)
	if err := l.out.Encode(message{Start: true}); err != nil {
		return fmt.Errorf("start the container: %w", err)
	}
	if _, err := l.receive(); err != nil {
		return gone(err)
	}
	return k.executed()
}

func gone(err error) error {
	if errors.Is(err, io.EOF) {
		return errors.New("the child that looks after the container ended")
	}
	return err
}

// join puts the container into those hierarchies of its group that the runtime
// did not: version 2 beside version 1.
func (k *Container) join() error {
	if k.group.Tree == nil {
		return nil
	}
	file := fmt.Sprintf("/proc/%d/cgroup", k.pid)
	if membershipOf(k.group).check(file) == nil {
		return nil
	}
	if err := k.group.Add(k.pid); err != nil {
		return err
	}
	return membershipOf(k.group).check(file)
}

// executed waits until the runtime's own process has become this binary.
func (k *Container) executed() error {
	self, err := os.Stat("/proc/self/exe")
	if err != nil {
		return err
	}
	for deadline := time.Now().Add(execBound); ; time.Sleep(200 * time.Microsecond) {
		its, err := os.Stat(fmt.Sprintf("/proc/%d/exe", k.pid))
		switch {
		case err == nil && os.SameFile(self, its):
			return nil
		case err != nil, hasEnded(k.pidfd): // that is for Exit to tell
			return nil
		case time.Now().After(deadline):
			return fmt.Errorf("the container did not execute this binary within %v", execBound)
		}
	}
}

// hasEnded says whether the process behind a descriptor is no more.
func hasEnded(pidfd int) bool {
	p := []unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}
	n, err := unix.Poll(p, 0)
	return err == nil && n > 0
}

// await receives how the container ended.
func (k *Container) await(l line) {
	defer close(k.done)
	defer k.release()
	m, err := l.receive()
	k.conn.Close()
	<-k.shim.Done()
	if err == nil && m.Exit == nil {
		err = fmt.Errorf("the child that looks after the container said %+v instead of how it ended", m)
	}
	if err != nil {
		k.exit = environment.Exit{Code: -1, Err: gone(err)}
		return
	}
	k.exit = exitStatus(*m.Exit)
	if n, ok := oomKills(k.group); ok && k.exit.Signal == "SIGKILL" && n > k.ooms {
		k.exit.OOM = true
	}
}

func exitStatus(status int) environment.Exit {
	ws := syscall.WaitStatus(status)
	if ws.Signaled() {
		return environment.Exit{Code: -1, Signal: unix.SignalName(ws.Signal())}
	}
	return environment.Exit{Code: ws.ExitStatus()}
}

func (k *Container) release() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.closed && k.pidfd >= 0 {
		unix.Close(k.pidfd)
	}
	k.closed = true
}

// Pid is the container's first process as the host numbers it.
func (k *Container) Pid() int { return k.pid }

// Done is closed when it has ended.
func (k *Container) Done() <-chan struct{} { return k.done }

// Exit is how it ended; valid after Done.
func (k *Container) Exit() environment.Exit { return k.exit }

// Kill ends it, frozen or not.
func (k *Container) Kill() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return nil
	}
	err := unix.PidfdSendSignal(k.pidfd, unix.SIGKILL, nil, 0)
	thaw(k.group)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}
