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
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/environment"
	"github.com/tarelab/tare/internal/linux/cgroup"
)

// Keeper is the first process of a pod, as tare speaks with it.
type Keeper struct {
	Pid int // as this host numbers it

	conn *net.UnixConn
	in   *json.Decoder
	// procs lists the processes of its container: a file cgroup.procs.
	procs string
}

// FindKeeper speaks with the keeper that is process pid, at the socket as its
// container sees it. It may still be on its way there. The caller closes it,
// which ends the keeper and all that is in its container.
func FindKeeper(ctx context.Context, pid int, socket, procs string) (*Keeper, error) {
	path := fmt.Sprintf("/proc/%d/root%s", pid, socket)
	for {
		conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
		if err == nil {
			k := &Keeper{Pid: pid, conn: conn, in: json.NewDecoder(conn), procs: procs}
			if err := k.check(); err != nil {
				return nil, errors.Join(err, conn.Close())
			}
			return k, nil
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
func (k *Keeper) check() error {
	raw, err := k.conn.SyscallConn()
	if err != nil {
		return err
	}
	var cred *unix.Ucred
	var credErr error
	err = raw.Control(func(fd uintptr) { cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err := errors.Join(err, credErr); err != nil {
		return fmt.Errorf("ask who is in the pod: %w", err)
	}
	if int(cred.Pid) != k.Pid {
		return fmt.Errorf("process %d listens in the pod, and its first process is %d", cred.Pid, k.Pid)
	}
	return nil
}

// Close ends the keeper. It may be called twice.
func (k *Keeper) Close() error {
	if err := k.conn.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// Kept is a child of a keeper: an environment.Running.
type Kept struct {
	pid, pidfd int
	group      cgroup.Group
	ooms       uint64
	done       chan struct{}
	exit       environment.Exit

	mu             sync.Mutex
	closed, killed bool // pidfd; by Kill
}

var _ environment.Running = (*Kept)(nil)

// StartKept starts a child of a keeper in a group, and returns when the load has
// been executed. The arm's own group is its container's. lost says how the child
// ended when its keeper ended too; c.Group is where its memory is accounted.
func (g *Ground) StartKept(ctx context.Context, k *Keeper, c Child, group cgroup.Group, lost func() environment.Exit) (*Kept, error) {
	if err := errors.Join(g.Open(), ctx.Err()); err != nil {
		return nil, err
	}
	parent, child, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	pid, err := k.ask(c, child)
	child.Close()
	if err != nil {
		return nil, err
	}
	p := &Kept{pid: pid, group: c.Group, done: make(chan struct{})}
	if p.pidfd, err = unix.PidfdOpen(pid, 0); err != nil {
		return nil, fmt.Errorf("hold the pod's process: %w", err)
	}
	p.ooms, _ = oomKills(c.Group)
	go p.await(k, lost)
	stop := context.AfterFunc(ctx, func() { parent.Close() })
	err = instructKept(p, c, group, parent)
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

// ask has the keeper start a child, and returns its number on this host.
func (k *Keeper) ask(c Child, socket *os.File) (int, error) {
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
	text, err := json.Marshal(order{Files: len(c.Files)})
	if err != nil {
		return 0, err
	}
	if _, _, err := k.conn.WriteMsgUnix(append(text, '\n'), unix.UnixRights(fds...), nil); err != nil {
		return 0, fmt.Errorf("ask the pod's first process: %w", err)
	}
	n, err := k.hear()
	if err != nil {
		return 0, err
	}
	return k.child(n.Pid)
}

// errSilent means that a keeper ended.
var errSilent = errors.New("the pod's first process ended")

func (k *Keeper) hear() (news, error) {
	var n news
	err := k.in.Decode(&n)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, unix.ECONNRESET), errors.Is(err, net.ErrClosed), errors.Is(err, io.ErrUnexpectedEOF):
		return n, errSilent
	case err != nil:
		return n, fmt.Errorf("hear from the pod's first process: %w", err)
	case n.Failure != nil:
		return n, n.Failure
	}
	return n, nil
}

// child finds the process that the pod numbers so. It has just been made and
// waits, so it is there.
func (k *Keeper) child(inside int) (int, error) {
	b, err := os.ReadFile(k.procs)
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
		if len(numbers) > 0 && numbers[len(numbers)-1] == strconv.Itoa(inside) && status["PPid"] == strconv.Itoa(k.Pid) {
			return pid, nil
		}
	}
	return 0, fmt.Errorf("find the pod's process: no child of process %d has number %d in the pod", k.Pid, inside)
}

// instructKept puts the child into its group and tells it what to do. It
// returns when the load is executed.
func instructKept(p *Kept, c Child, group cgroup.Group, parent *net.UnixConn) error {
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

// await hears how the child ended.
func (p *Kept) await(k *Keeper, lost func() environment.Exit) {
	defer close(p.done)
	n, err := k.hear()
	if err == nil && n.Exit == nil {
		err = fmt.Errorf("the pod's first process said %+v instead of how the load ended", n)
	}
	if err != nil {
		p.gone()
	}
	p.mu.Lock()
	killed := p.killed
	p.closed = true
	unix.Close(p.pidfd)
	p.mu.Unlock()
	switch {
	case err == nil:
		p.exit = exitStatus(*n.Exit)
	case killed:
		p.exit = environment.Exit{Code: -1, Signal: "SIGKILL"}
	case errors.Is(err, errSilent):
		p.exit = lost()
		return
	default:
		p.exit = environment.Exit{Code: -1, Err: err}
		return
	}
	if n, ok := oomKills(p.group); ok && p.exit.Signal == "SIGKILL" && n > p.ooms {
		p.exit.OOM = true
	}
}

// gone waits for the end of a child whose keeper has ended: the kernel ends it.
func (p *Kept) gone() {
	poll := []unix.PollFd{{Fd: int32(p.pidfd), Events: unix.POLLIN}}
	for end := time.Now().Add(reapBound); time.Now().Before(end); {
		if n, err := unix.Poll(poll, 1000); n > 0 || err != nil && !errors.Is(err, unix.EINTR) {
			return
		}
		thaw(p.group)
	}
}

// Pid is the process as the host numbers it.
func (p *Kept) Pid() int { return p.pid }

// Done is closed when it has ended.
func (p *Kept) Done() <-chan struct{} { return p.done }

// Exit is how it ended; valid after Done.
func (p *Kept) Exit() environment.Exit { return p.exit }

// Kill ends it, frozen or not.
func (p *Kept) Kill() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	p.killed = true
	err := unix.PidfdSendSignal(p.pidfd, unix.SIGKILL, nil, 0)
	thaw(p.group)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}
