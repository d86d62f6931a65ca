package agent

import (
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/host/window"
	"github.com/tarelab/tare/internal/linux/sched"
	"github.com/tarelab/tare/internal/linux/unixsock"
)

// agent is the first process of a pod. It holds one process at a time.
type agent struct {
	// alone says that no process but the agent and its children is in the pod: tare's side of
	// the connection is outside.
	alone bool
	// forkExec is syscall.ForkExec; a test that starts nothing replaces it.
	forkExec func(path string, args []string, attr *syscall.ProcAttr) (pid int, err error)
	encoder  struct {
		sync.Mutex
		*json.Encoder
	}
	mu        sync.Mutex
	child     *child     // the last one; nil: none yet
	measuring sync.Mutex // held while the gate moves and while probes are read
	stopping  sync.Mutex
	echo      echoListener
}

// runAgent serves one connection and returns when it ends.
func runAgent(socket string) error {
	runtime.LockOSThread() // a child may end with the thread that started it
	conn, err := unixsock.AcceptOne(socket, joinBound)
	if err != nil {
		return err
	}
	return serve(conn, lostAfter)
}

// serve executes requests until the connection ends, and then ends all processes that it
// started. A stream through the API server also ends when nothing arrives for patience. A
// connection from outside of the pod needs no heartbeats: the kernel closes it when tare ends.
func serve(conn *net.UnixConn, patience time.Duration) error {
	peer, err := unixsock.Peer(conn)
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	a := &agent{alone: peer == 0, forkExec: syscall.ForkExec} // 0: not in this pid namespace
	a.encoder.Encoder = json.NewEncoder(conn)
	defer a.endAll(endBound) // before the data directory is removed
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	signal.Ignore(syscall.SIGPIPE)
	go a.reap(ended)
	over := make(chan os.Signal, 1)
	signal.Notify(over, syscall.SIGTERM) // the pod is removed
	go func() { <-over; conn.Close() }()
	silence := time.AfterFunc(patience, func() { conn.Close() })
	if a.alone {
		silence.Stop()
	}
	in := &unixsock.Receiver{UnixConn: conn}
	return readRequests(in, mostRequest, in.Take, func(r request, files []*os.File) {
		if r.Number == 0 {
			silence.Reset(patience)
			a.tell(event{}) // a heartbeat
			return
		}
		a.execute(r, files)
	})
}

// withLoad calls do with the load that was started, on a thread of its own: a probe reads the
// clock of the thread. One request at a time moves the gate.
func (a *agent) withLoad(do func(*window.Load) (event, error)) (event, error) {
	a.measuring.Lock()
	defer a.measuring.Unlock()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c, _ := a.current()
	if c == nil || c.load == nil {
		return event{}, errors.New("no load was started")
	}
	return do(c.load)
}

func (a *agent) setGate(r request, _ []*os.File) (event, error) {
	return a.withLoad(func(l *window.Load) (event, error) {
		l.Memory.SetGate(*r.Gate)
		return event{}, nil
	})
}

func (a *agent) pause(request, []*os.File) (event, error) {
	return a.withLoad(func(l *window.Load) (event, error) {
		window.Pause(l.Memory)
		return event{}, nil
	})
}

// current is the last child; the error says why none runs.
func (a *agent) current() (*child, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.child == nil || a.child.ended() != nil {
		return a.child, errors.New("nothing runs here")
	}
	return a.child, nil
}

func (a *agent) answer(r request, e event, err error) {
	e.Number, e.Now, e.Failure = r.Number, sched.Monotonic(), FailureOf(err)
	a.tell(e)
}

// tell sends an event. It ignores errors: the reader sees that the connection broke.
func (a *agent) tell(e event) {
	a.encoder.Lock()
	defer a.encoder.Unlock()
	_ = a.encoder.Encode(e)
}

// reap waits for all children, orphans too. The agent signals a child by its pid only under
// the lock and before the child is reaped, and the child's process group also right after
// that, before another child is started. Processes that family finds are signalled by pid: a
// pid that was given away meanwhile belongs to the same pod.
func (a *agent) reap(ended <-chan os.Signal) {
	for range ended {
		a.mu.Lock()
		for {
			var ws unix.WaitStatus
			pid, err := unix.Wait4(-1, &ws, unix.WNOHANG, nil)
			if err == unix.EINTR {
				continue
			}
			if err != nil || pid <= 0 {
				break
			}
			if c := a.child; c != nil && c.pid == pid && !isClosed(c.done) {
				_ = unix.Kill(-pid, unix.SIGKILL)
				close(c.done)
				go a.finish(c, ws)
			}
		}
		a.mu.Unlock()
	}
}

func (a *agent) killStarted(r request, _ []*os.File) (event, error) { return event{}, a.kill(r.Kill) }

// kill ends the child that was started by the request of that number, with its process group.
func (a *agent) kill(number int) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c := a.child; c != nil && c.number == number && !isClosed(c.done) {
		return errors.Join(unix.Kill(c.pid, unix.SIGKILL), unix.Kill(-c.pid, unix.SIGKILL))
	}
	return nil // it has ended already
}
