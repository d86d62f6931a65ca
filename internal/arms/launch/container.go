package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/linux/cgroup"
)

// container is a container that an OCI runtime makes.
type container struct {
	*Process // the first process of the container; nil before it is created
	group    cgroup.Group
	shim     *Process // the child of tare that looks after the container
	conn     *net.UnixConn
}

// execBound is how long a started container may take to execute the load. More than 10 s were
// seen on a busy host.
const execBound = time.Minute

// StartContainer starts a child that looks after the container of Request.Runtime, and returns
// when the container executes tare's binary. The container is in Child.Group; the child is in no
// group.
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
	cmd.SysProcAttr.Pdeathsig = 0 // when tare ends, the child has to end the container
	err = t.start(cmd.Start)
	child.Close()
	if err != nil {
		parent.Close()
		return nil, fmt.Errorf("start this binary: %w", err)
	}
	k := &container{group: c.Group, conn: parent}
	if k.shim, err = openChild(cmd, cgroup.Group{}); err != nil {
		return nil, errors.Join(err, parent.Close())
	}
	stop := context.AfterFunc(ctx, func() { parent.Close() })
	l := newLine(parent)
	err = k.createAndStart(c, l)
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

// createAndStart creates the container, moves it into its group and starts it.
func (k *container) createAndStart(c Child, l line) error {
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
		return streamEnded(err)
	}
	if k.Process, err = openProcess(m.Created, k.group); err != nil {
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
		return streamEnded(err)
	}
	if ended != nil {
		return nil // Exit tells how it ended
	}
	return k.executed(runtime)
}

// program is the program that the container's first process executes.
func (k *container) program() (os.FileInfo, error) {
	return os.Stat(fmt.Sprintf("/proc/%d/exe", k.pid))
}

// streamEnded names the end of the stream.
func streamEnded(err error) error {
	if errors.Is(err, io.EOF) {
		return errors.New("the child that looks after the container ended")
	}
	return err
}

// join moves the container into the hierarchy of its group that the runtime does not use:
// version 2 beside version 1.
func (k *container) join() error {
	if k.group.Tree == nil {
		return nil
	}
	pid := strconv.Itoa(k.pid)
	if membershipOf(k.group).check(pid) == nil {
		return nil
	}
	if err := k.group.Add(k.pid); err != nil {
		return err
	}
	return membershipOf(k.group).check(pid)
}

// executed waits until the runtime's process executes another program: tare's binary, or the
// program that this has executed since.
func (k *container) executed(runtime os.FileInfo) error {
	for deadline := time.Now().Add(execBound); ; time.Sleep(200 * time.Microsecond) {
		now, err := k.program()
		switch {
		case err != nil, k.ended(0): // Exit tells how it ended
			return nil
		case !os.SameFile(runtime, now):
			return nil
		case time.Now().After(deadline):
			return fmt.Errorf("the container did not execute this binary within %v", execBound)
		}
	}
}

// await waits until the child reports how the container ended.
func (k *container) await(l line) {
	m, err := l.receive()
	k.conn.Close()
	<-k.shim.Done()
	k.end(func() environment.Exit {
		switch {
		case err != nil:
			return environment.Exit{Code: -1, Err: streamEnded(err)}
		case m.Exit == nil:
			return environment.Exit{Code: -1, Err: fmt.Errorf("the child that looks after the container sent %+v instead of an exit status", m)}
		}
		return exitStatus(syscall.WaitStatus(*m.Exit))
	})
}
