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
	"github.com/tarelab/tare/internal/window"
)

// keep is a keeper's life: one stream, and the end with it.
func keep(socket string) error {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err == nil {
		err = errors.Join(os.Chmod(socket, 0o600), l.SetDeadline(time.Now().Add(joinBound)))
	}
	if err != nil {
		return fmt.Errorf("listen for tare: %w", err)
	}
	conn, err := l.AcceptUnix()
	l.Close()
	if err != nil {
		return fmt.Errorf("wait for tare: %w", err)
	}
	return serve(conn)
}

// join leads the standard input to the keeper and what the keeper says to the
// standard output, until the keeper has ended.
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
		_ = conn.CloseWrite() // the keeper ends then, and says so by closing its end
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

// keeper is the first process of a pod.
type keeper struct {
	say struct {
		sync.Mutex
		*json.Encoder
	}
	mu       sync.Mutex
	children map[int]*child // by the number of the order
	load     *window.Load   // nil: none was started
	visiting sync.Mutex     // held while the gate is moved
	stopping sync.Mutex
	doors    doors
}

// serve does what it is told over a stream until that ends or falls silent, and
// ends what it started.
func serve(conn io.ReadWriteCloser) error {
	k := &keeper{children: map[int]*child{}}
	k.say.Encoder = json.NewEncoder(conn)
	defer k.end()
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	signal.Ignore(syscall.SIGPIPE)
	go k.reap(ended)
	over := make(chan os.Signal, 1)
	signal.Notify(over, syscall.SIGTERM) // the pod is removed
	go func() { <-over; conn.Close() }()
	silence := time.AfterFunc(lostAfter, func() { conn.Close() })
	go k.beat()
	for in := json.NewDecoder(bufio.NewReader(conn)); ; {
		var o order
		if err := in.Decode(&o); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, syscall.ECONNRESET) {
				return nil
			}
			return fmt.Errorf("read what tare asks: %w", err)
		}
		silence.Reset(lostAfter)
		k.take(o)
	}
}

// take answers an order. What takes time is answered later.
func (k *keeper) take(o order) {
	switch {
	case o.Start != nil:
		k.answer(o, news{}, k.start(o.Number, *o.Start))
	case o.Kill != 0:
		k.answer(o, news{}, k.kill(o.Kill))
	case o.Look:
		seen, err := k.look()
		k.answer(o, news{Seen: seen}, err)
	case o.Answer != nil:
		k.answer(o, news{}, k.doors.open(*o.Answer))
	case o.Hush:
		k.answer(o, news{Met: k.doors.shut()}, nil)
	case o.Ask != nil:
		go k.inquire(o)
	case o.Try:
		go k.try(o)
	case o.Stop != nil:
		go func() { k.answer(o, news{}, k.stop(*o.Stop)) }()
	case o.Resume:
		resume()
		k.answer(o, news{}, nil)
	case o.Watch != nil:
		go k.observe(o)
	case o.Gate != nil, o.Pause, o.Visit != nil:
		go k.move(o)
	case o.Number != 0:
		k.answer(o, news{}, nil) // for the clock
	}
}

// move opens or closes the gate of the load.
func (k *keeper) move(o order) {
	k.visiting.Lock()
	defer k.visiting.Unlock()
	runtime.LockOSThread() // a probe reads the thread's own clock
	defer runtime.UnlockOSThread()
	k.mu.Lock()
	l := k.load
	k.mu.Unlock()
	if l == nil {
		k.answer(o, news{}, errors.New("no load was started"))
		return
	}
	switch {
	case o.Visit != nil:
		seen, err := visit(l, *o.Visit)
		k.answer(o, news{Visited: &seen}, err)
	case o.Pause:
		window.Pause(l.Memory)
		k.answer(o, news{}, nil)
	default:
		l.Memory.SetGate(*o.Gate)
		k.answer(o, news{}, nil)
	}
}

func (k *keeper) answer(o order, n news, err error) {
	n.Number, n.Now = o.Number, sched.Monotonic()
	if err != nil {
		n.Failure = err.Error()
	}
	k.tell(n)
}

// tell says something. That nobody hears it shows at the other side of the stream.
func (k *keeper) tell(n news) {
	k.say.Lock()
	defer k.say.Unlock()
	_ = k.say.Encode(n)
}

// beat says that the keeper is there.
func (k *keeper) beat() {
	for range time.Tick(beatEvery) {
		k.tell(news{})
	}
}

// endBound is how long killed processes may take to end.
const endBound = 10 * time.Second

// end ends every process, and waits for that: none is to write where something is
// removed. As the first one of a pod the keeper takes all others with it anyway.
func (k *keeper) end() {
	var all []*child
	for _, r := range family() {
		_ = unix.Kill(r.pid, unix.SIGKILL)
	}
	k.mu.Lock()
	for _, c := range k.children {
		_ = unix.Kill(-c.pid, unix.SIGKILL)
		all = append(all, c)
	}
	k.mu.Unlock()
	late := time.After(endBound)
	for _, c := range all {
		select {
		case <-c.done:
		case <-late:
			return
		}
	}
}
