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
	// apart says that who asks is not in this pod: there is nothing but what was started.
	apart bool
	// execute is syscall.ForkExec; of a test that is to start nothing another.
	execute func(path string, args []string, attr *syscall.ProcAttr) (pid int, err error)
	say     struct {
		sync.Mutex
		*json.Encoder
	}
	mu        sync.Mutex
	child     *child     // the last one; nil: none yet
	measuring sync.Mutex // held while the gate is moved
	stopping  sync.Mutex
	echo      echoListener
}

// runAgent is the life of an agent: one connection, and the end with it.
func runAgent(socket string) error {
	runtime.LockOSThread() // a child may end with the thread that started it
	conn, err := unixsock.AcceptOne(socket, joinBound)
	if err != nil {
		return err
	}
	return serve(conn, lostAfter)
}

// serve does what it is told until the connection ends, or a stream falls silent for so
// long, and ends what it started. A connection from outside of the pod is no stream: the
// kernel closes it when tare ends, and no beats come over it.
func serve(conn *net.UnixConn, patience time.Duration) error {
	peer, err := unixsock.Peer(conn)
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	a := &agent{apart: peer == 0, execute: syscall.ForkExec}
	a.say.Encoder = json.NewEncoder(conn)
	defer a.endAll(endBound) // none is to write where something is removed then
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	signal.Ignore(syscall.SIGPIPE)
	go a.reap(ended)
	over := make(chan os.Signal, 1)
	signal.Notify(over, syscall.SIGTERM) // the pod is removed
	go func() { <-over; conn.Close() }()
	silence := time.AfterFunc(patience, func() { conn.Close() })
	if a.apart {
		silence.Stop()
	}
	in := &unixsock.Receiver{UnixConn: conn}
	return heed(in, mostRequest, in.Take, func(r request, files []*os.File) {
		if r.Number == 0 {
			silence.Reset(patience)
			a.tell(event{})
			return
		}
		a.take(r, files)
	})
}

// take answers a request. What takes time is answered later.
func (a *agent) take(r request, files []*os.File) {
	switch {
	case r.Start != nil:
		pid, err := a.start(r.Number, *r.Start, files)
		a.answer(r, event{Pid: pid}, err)
	case r.Kill != 0:
		a.answer(r, event{}, a.kill(r.Kill))
	case r.Look:
		go func() {
			seen, err := a.look() // the data may be on a server that does not answer
			a.answer(r, event{Seen: seen}, err)
		}()
	case r.Echo != nil:
		a.answer(r, event{}, a.echo.start(*r.Echo))
	case r.StopEcho:
		a.answer(r, event{Handshakes: a.echo.stop()}, nil)
	case r.Probe != nil:
		go a.dialProbe(r)
	case r.Try:
		go a.try(r)
	case r.Stop != nil:
		go func() { a.answer(r, event{}, a.stop(*r.Stop)) }()
	case r.Resume:
		resume()
		a.answer(r, event{}, nil)
	case r.Watch != nil:
		go a.observe(r)
	case r.Gate != nil, r.Pause, r.Measure != nil:
		go a.move(r)
	default:
		a.answer(r, event{}, nil) // for the clock
	}
}

// move opens or closes the gate of the load.
func (a *agent) move(r request) {
	a.measuring.Lock()
	defer a.measuring.Unlock()
	runtime.LockOSThread() // a probe reads the thread's own clock
	defer runtime.UnlockOSThread()
	c, _ := a.current()
	switch {
	case c == nil || c.load == nil:
		a.answer(r, event{}, errors.New("no load was started"))
	case r.Measure != nil:
		seen, err := measure(c.load, *r.Measure)
		a.answer(r, event{Sample: &seen}, err)
	case r.Pause:
		window.Pause(c.load.Memory)
		a.answer(r, event{}, nil)
	default:
		c.load.Memory.SetGate(*r.Gate)
		a.answer(r, event{}, nil)
	}
}

// current is the last process that was started, or why none runs.
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

// tell says something. That nobody hears it shows at the other side.
func (a *agent) tell(e event) {
	a.say.Lock()
	defer a.say.Unlock()
	_ = a.say.Encode(e)
}

// reap waits for whatever ends, orphans too. A child is signalled by its number only
// under the lock, and while it was not reaped; its process group also right after that,
// before the agent starts another. What family finds is signalled by the number that it
// had a moment ago: in a pod that is nobody's but the pod's own.
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
			if c := a.child; c != nil && c.pid == pid && !over(c.done) {
				_ = unix.Kill(-pid, unix.SIGKILL)
				close(c.done)
				go a.bury(c, ws)
			}
		}
		a.mu.Unlock()
	}
}

// kill ends the process, and what it has left.
func (a *agent) kill(number int) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c := a.child; c != nil && c.number == number && !over(c.done) {
		return errors.Join(unix.Kill(c.pid, unix.SIGKILL), unix.Kill(-c.pid, unix.SIGKILL))
	}
	return nil // it has ended
}
