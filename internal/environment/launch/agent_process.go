package launch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/environment"
	"github.com/tarelab/tare/internal/linux/cgroup"
)

// Agent is the first process of a pod, as tare speaks with it.
type Agent struct {
	Pid int // as this host numbers it

	conn *net.UnixConn
	in   *json.Decoder
	// procs lists the processes of its container: a file cgroup.procs.
	procs string
}

// DialAgent speaks with the agent that is process pid, at the socket as its
// container sees it. It may still be on its way there. The caller closes it,
// which ends the agent and all that is in its container.
func DialAgent(ctx context.Context, pid int, socket, procs string) (*Agent, error) {
	path := fmt.Sprintf("/proc/%d/root%s", pid, socket)
	for {
		conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
		if err == nil {
			a := &Agent{Pid: pid, conn: conn, in: json.NewDecoder(conn), procs: procs}
			if err := a.check(); err != nil {
				return nil, errors.Join(err, conn.Close())
			}
			return a, nil
		}
		if !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.ECONNREFUSED) {
			return nil, fmt.Errorf("speak with the pod's first process: %w", err)
		}
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); err != nil {
			return nil, errors.New("the pod's first process ended before it could be asked")
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("speak with the pod's first process: %w", ctx.Err())
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// check asks the kernel who listens.
func (a *Agent) check() error {
	raw, err := a.conn.SyscallConn()
	if err != nil {
		return err
	}
	var cred *unix.Ucred
	var credErr error
	err = raw.Control(func(fd uintptr) { cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err := errors.Join(err, credErr); err != nil {
		return fmt.Errorf("ask who is in the pod: %w", err)
	}
	if int(cred.Pid) != a.Pid {
		return fmt.Errorf("process %d listens in the pod, and its first process is %d", cred.Pid, a.Pid)
	}
	return nil
}

// Close ends the agent. It may be called twice.
func (a *Agent) Close() error {
	if err := a.conn.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// StartByAgent starts a child of an agent in a group, and returns when the load has
// been executed. The arm's own group is its container's. lost says how the child
// ended when its agent ended too; c.Group is where its memory is accounted.
func (g *Sandbox) StartByAgent(ctx context.Context, a *Agent, c Child, group cgroup.Group, lost func() environment.Exit) (environment.Running, error) {
	if err := errors.Join(g.Open(), ctx.Err()); err != nil {
		return nil, err
	}
	parent, child, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	pid, err := a.startChild(c, child)
	child.Close()
	if err != nil {
		return nil, err
	}
	p, err := hold(pid, c.Group)
	if err != nil {
		return nil, err
	}
	go a.await(p, lost)
	stop := context.AfterFunc(ctx, func() { parent.Close() })
	err = instructChild(p, c, group, parent)
	if !stop() {
		err = errors.Join(ctx.Err(), err)
	}
	if err != nil {
		err = errors.Join(err, p.Kill())
		<-p.done
		return nil, err
	}
	return p, g.track(p)
}

// startChild has the agent start a child, and returns its number on this host.
func (a *Agent) startChild(c Child, socket *os.File) (int, error) {
	log := c.Log
	if log == nil {
		null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		if err != nil {
			return 0, err
		}
		defer null.Close()
		log = null
	}
	if len(c.Files) > mostFiles {
		return 0, fmt.Errorf("%d descriptors, at most %d can be handed over", len(c.Files), mostFiles)
	}
	fds := []int{int(log.Fd())}
	for _, f := range append(slices.Clone(c.Files), socket) {
		fds = append(fds, int(f.Fd()))
	}
	text, err := json.Marshal(agentRequest{Files: len(c.Files)})
	if err != nil {
		return 0, err
	}
	if _, _, err := a.conn.WriteMsgUnix(append(text, '\n'), unix.UnixRights(fds...), nil); err != nil {
		return 0, fmt.Errorf("ask the pod's first process: %w", err)
	}
	n, err := a.receive()
	if err != nil {
		return 0, err
	}
	return a.hostPid(n.Pid)
}

// errAgentEnded means that an agent ended.
var errAgentEnded = errors.New("the pod's first process ended")

func (a *Agent) receive() (agentEvent, error) {
	var n agentEvent
	err := a.in.Decode(&n)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, unix.ECONNRESET), errors.Is(err, net.ErrClosed), errors.Is(err, io.ErrUnexpectedEOF):
		return n, errAgentEnded
	case err != nil:
		return n, fmt.Errorf("hear from the pod's first process: %w", err)
	case n.Failure != nil:
		return n, n.Failure
	}
	return n, nil
}

// hostPid finds the process that the pod numbers so. It has just been made and
// waits, so it is there.
func (a *Agent) hostPid(inside int) (int, error) {
	b, err := os.ReadFile(a.procs)
	if err != nil {
		return 0, fmt.Errorf("find the pod's process: %w", err)
	}
	for _, word := range strings.Fields(string(b)) {
		pid, _ := strconv.Atoi(word)
		status, err := statusOf(pid)
		if err != nil {
			continue // it has ended
		}
		numbers := strings.Fields(status["NSpid"])
		if len(numbers) > 0 && numbers[len(numbers)-1] == strconv.Itoa(inside) && status["PPid"] == strconv.Itoa(a.Pid) {
			return pid, nil
		}
	}
	return 0, fmt.Errorf("find the pod's process: no child of process %d has number %d in the pod", a.Pid, inside)
}

// instructChild puts the child into its group and tells it what to do. It
// returns when the load is executed.
func instructChild(p *Process, c Child, group cgroup.Group, parent *net.UnixConn) error {
	if len(group.Dirs) > 0 {
		if err := group.Add(p.pid); err != nil {
			return err
		}
		if err := membershipOf(group).check(fmt.Sprintf("/proc/%d/cgroup", p.pid)); err != nil {
			return err
		}
	}
	r := c.Request
	r.Files = len(c.Files)
	return demand(parent, r)
}

// await hears how a child ended.
func (a *Agent) await(p *Process, lost func() environment.Exit) {
	n, err := a.receive()
	if err == nil && n.Exit == nil {
		err = fmt.Errorf("the pod's first process said %+v instead of how the load ended", n)
	}
	if err != nil {
		// The kernel ends a child whose agent has ended.
		for end := time.Now().Add(reapBound); !p.ended(time.Second) && time.Now().Before(end); {
			thaw(p.group)
		}
	}
	p.end(func() environment.Exit {
		switch {
		case err == nil:
			return exitStatus(syscall.WaitStatus(*n.Exit))
		case p.killed:
			return environment.Exit{Code: -1, Signal: "SIGKILL"}
		case errors.Is(err, errAgentEnded):
			return lost()
		}
		return environment.Exit{Code: -1, Err: err}
	})
}
