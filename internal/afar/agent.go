package afar

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/dirtar"
	"github.com/tarelab/tare/internal/linux/sched"
	"github.com/tarelab/tare/internal/linux/unixsock"
	"github.com/tarelab/tare/internal/window"
)

// runAgent is the life of an agent: one stream, and the end with it.
func runAgent(socket string) error {
	conn, err := unixsock.AcceptOne(socket, joinBound)
	if err != nil {
		return err
	}
	return serve(conn)
}

// join leads the standard input to the agent and what the agent says to the
// standard output, until the agent has ended.
func join(socket string) error {
	var conn *net.UnixConn
	var err error
	for end := time.Now().Add(joinBound); ; time.Sleep(10 * time.Millisecond) {
		conn, err = net.DialUnix("unix", nil, &net.UnixAddr{Name: socket, Net: "unix"})
		if err == nil {
			break
		}
		if time.Now().After(end) {
			return fmt.Errorf("speak with the pod's first process: %w", err)
		}
	}
	go func() {
		_, _ = io.Copy(conn, os.Stdin)
		_ = conn.CloseWrite() // the agent ends then, and says so by closing its end
	}()
	_, err = io.Copy(os.Stdout, conn)
	return errors.Join(err, conn.Close())
}

// fill makes a directory of an archive.
func fill(r io.Reader, dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return fmt.Errorf("make the data directory: %w", err)
	}
	if _, err := dirtar.Read(r, dir, true); err != nil {
		return fmt.Errorf("receive the data set: %w", err)
	}
	return nil
}

// agent is the first process of a pod.
type agent struct {
	say struct {
		sync.Mutex
		*json.Encoder
	}
	mu        sync.Mutex
	children  map[int]*child // by the number of the request
	load      *window.Load   // nil: none was started
	measuring sync.Mutex     // held while the gate is moved
	stopping  sync.Mutex
	echo      echoListener
}

// serve does what it is told over a stream until that ends or falls silent, and
// ends what it started.
func serve(conn io.ReadWriteCloser) error {
	a := &agent{children: map[int]*child{}}
	a.say.Encoder = json.NewEncoder(conn)
	defer a.end()
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	signal.Ignore(syscall.SIGPIPE)
	go a.reap(ended)
	over := make(chan os.Signal, 1)
	signal.Notify(over, syscall.SIGTERM) // the pod is removed
	go func() { <-over; conn.Close() }()
	silence := time.AfterFunc(lostAfter, func() { conn.Close() })
	go a.beat()
	for in := json.NewDecoder(bufio.NewReader(conn)); ; {
		var r request
		if err := in.Decode(&r); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, syscall.ECONNRESET) {
				return nil
			}
			return fmt.Errorf("read what tare asks: %w", err)
		}
		silence.Reset(lostAfter)
		a.take(r)
	}
}

// take answers a request. What takes time is answered later.
func (a *agent) take(r request) {
	switch {
	case r.Start != nil:
		a.answer(r, event{}, a.start(r.Number, *r.Start))
	case r.Kill != 0:
		a.answer(r, event{}, a.kill(r.Kill))
	case r.Look:
		seen, err := a.look()
		a.answer(r, event{Seen: seen}, err)
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
	case r.Number != 0:
		a.answer(r, event{}, nil) // for the clock
	}
}

// move opens or closes the gate of the load.
func (a *agent) move(r request) {
	a.measuring.Lock()
	defer a.measuring.Unlock()
	runtime.LockOSThread() // a probe reads the thread's own clock
	defer runtime.UnlockOSThread()
	a.mu.Lock()
	l := a.load
	a.mu.Unlock()
	if l == nil {
		a.answer(r, event{}, errors.New("no load was started"))
		return
	}
	switch {
	case r.Measure != nil:
		seen, err := measure(l, *r.Measure)
		a.answer(r, event{Sample: &seen}, err)
	case r.Pause:
		window.Pause(l.Memory)
		a.answer(r, event{}, nil)
	default:
		l.Memory.SetGate(*r.Gate)
		a.answer(r, event{}, nil)
	}
}

func (a *agent) answer(r request, e event, err error) {
	e.Number, e.Now = r.Number, sched.Monotonic()
	if err != nil {
		e.Failure = err.Error()
	}
	a.tell(e)
}

// tell says something. That nobody hears it shows at the other side of the stream.
func (a *agent) tell(e event) {
	a.say.Lock()
	defer a.say.Unlock()
	_ = a.say.Encode(e)
}

// beat says that the agent is there.
func (a *agent) beat() {
	for range time.Tick(beatEvery) {
		a.tell(event{})
	}
}

// endBound is how long killed processes may take to end.
const endBound = 10 * time.Second

// end ends every process, and waits for that: none is to write where something is
// removed. As the first one of a pod the agent takes all others with it anyway.
func (a *agent) end() {
	var all []*child
	for _, r := range family() {
		_ = unix.Kill(r.pid, unix.SIGKILL)
	}
	a.mu.Lock()
	for _, c := range a.children {
		_ = unix.Kill(-c.pid, unix.SIGKILL)
		all = append(all, c)
	}
	a.mu.Unlock()
	late := time.After(endBound)
	for _, c := range all {
		select {
		case <-c.done:
		case <-late:
			return
		}
	}
}
