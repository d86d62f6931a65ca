package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/linux/cgroup"
)

// container is one of an OCI runtime on its way.
type container struct {
	*Process // its first one, once it has been created
	group    cgroup.Group
	shim     *Process
	conn     *net.UnixConn
}

// execBound is how long a started container may take to become the load: on a host
// whose CPUs others use, more than 10 s.
const execBound = time.Minute

// StartContainer starts a child that looks after a container and returns when
// the container runs this binary. Request.Runtime says which; Child.Group is
// the group that the container is put into, the child itself is in none.
func (t *Thread) StartContainer(ctx context.Context, c Child) (*Process, error) {
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
	k := &container{group: c.Group, conn: parent}
	if k.shim, err = holdChild(cmd, cgroup.Group{}); err != nil {
		return nil, errors.Join(err, parent.Close())
	}
	stop := context.AfterFunc(ctx, func() { parent.Close() })
	l := newLine(parent)
	err = k.bring(c, l)
	if !stop() {
		err = errors.Join(ctx.Err(), err)
	}
	if err != nil {
		parent.Close() // the child ends the container and itself
		<-k.shim.Done()
		if k.Process != nil {
			k.release()
		}
		return nil, err
	}
	go k.await(l)
	return k.Process, nil
}

// bring gets the container created, into its group, and started.
func (k *container) bring(c Child, l line) error {
	if err := c.ShimStarted(k.shim.Pid()); err != nil {
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
	if k.Process, err = hold(m.Created, k.group); err != nil {
		return err
	}
	if err := k.join(); err != nil {
		return err
	}
	if c.Created != nil {
		if err := c.Created(); err != nil {
			return err
		}
	}
	runtime, ended := k.program()
	if err := l.out.Encode(message{Start: true}); err != nil {
		return fmt.Errorf("start the container: %w", err)
	}
	if _, err := l.receive(); err != nil {
		return gone(err)
	}
	if ended != nil {
		return nil // that is for Exit to tell
	}
	return k.executed(runtime)
}

// program is what the container's process executes.
func (k *container) program() (os.FileInfo, error) {
	return os.Stat(fmt.Sprintf("/proc/%d/exe", k.pid))
}

func gone(err error) error {
	if errors.Is(err, io.EOF) {
		return errors.New("the child that looks after the container ended")
	}
	return err
}

// join puts the container into those hierarchies of its group that the runtime
// did not: version 2 beside version 1.
func (k *container) join() error {
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

// executed waits until the runtime's own process executes another program: this binary,
// or what that has become since, for a server's first act may be to execute its program.
func (k *container) executed(runtime os.FileInfo) error {
	for deadline := time.Now().Add(execBound); ; time.Sleep(200 * time.Microsecond) {
		now, err := k.program()
		switch {
		case err != nil, k.ended(0): // that is for Exit to tell
			return nil
		case !os.SameFile(runtime, now):
			return nil
		case time.Now().After(deadline):
			return fmt.Errorf("the container did not execute this binary within %v", execBound)
		}
	}
}

// await receives how the container ended.
func (k *container) await(l line) {
	m, err := l.receive()
	k.conn.Close()
	<-k.shim.Done()
	k.end(func() environment.Exit {
		switch {
		case err != nil:
			return environment.Exit{Code: -1, Err: gone(err)}
		case m.Exit == nil:
			return environment.Exit{Code: -1, Err: fmt.Errorf("the child that looks after the container said %+v instead of how it ended", m)}
		}
		return exitStatus(syscall.WaitStatus(*m.Exit))
	})
}
