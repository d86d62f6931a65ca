package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/linux/unixsock"
	"github.com/tarelab/tare/internal/wire"
)

// Link is tare's side of the connection to an agent.
type Link struct {
	in       io.ReadCloser
	out      io.WriteCloser
	conn     *net.UnixConn           // in and out as one socket, which can pass descriptors; nil: a stream to another host
	lost     func() environment.Exit // finds out how the processes ended, if the connection breaks
	listener SilenceListener         // may be nil
	clock    Clock

	encoder struct {
		sync.Mutex
		*json.Encoder
	}
	mu           sync.Mutex
	number       int                // of the last request
	waiting      map[int]chan event // channels for answers, by number of the request
	started      map[int]*Process   // by number of the request that started it
	disconnected chan struct{}      // closed when the connection ends
	ended        chan struct{}      // closed later, when it is known how the processes ended; why is set then
	why          error
	closed       bool // by Close
}

// ErrBroken means that the connection to the agent has ended.
var ErrBroken = errors.New("the stream to the pod broke")

// askBound is how long an answer may take, beyond the time that the request itself takes. It is long
// because a BestEffort pod may wait long for a CPU; heartbeats show sooner that the agent is gone.
const askBound = 2 * time.Minute

func newLink(in io.ReadCloser, out io.WriteCloser, lost func() environment.Exit) *Link {
	l := &Link{
		in: in, out: out, lost: lost, waiting: map[int]chan event{}, started: map[int]*Process{},
		disconnected: make(chan struct{}), ended: make(chan struct{}),
	}
	l.encoder.Encoder = json.NewEncoder(out)
	return l
}

// Close closes the connection, and the agent ends with all its processes. It may be called twice.
func (l *Link) Close() error {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	if err := l.out.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// Over returns a channel that is closed when the connection ends. It is not known then how the
// processes ended.
func (l *Link) Over() <-chan struct{} { return l.disconnected }

// receive handles events until the connection ends. It closes the connection if no event arrives for
// patience.
func (l *Link) receive(patience time.Duration) {
	timeout := time.AfterFunc(patience, func() { l.in.Close() })
	defer timeout.Stop()
	var silence *silenceWatch
	if l.listener != nil {
		silence = watchSilence(l.listener)
		defer silence.stop()
	}
	messages := &bounded{Reader: l.in, most: mostEvent}
	d := json.NewDecoder(messages)
	for {
		messages.next()
		var e event
		if err := d.Decode(&e); err != nil {
			l.end(err)
			return
		}
		timeout.Reset(patience)
		if silence != nil {
			silence.heard()
		}
		l.mu.Lock()
		answered, p := l.waiting[e.Number], l.started[e.Number]
		if answered != nil && e.Log == nil && e.State == nil && e.Exit == nil {
			delete(l.waiting, e.Number)
			answered <- e
		}
		l.mu.Unlock()
		if p != nil {
			p.handle(e)
		}
	}
}

// end ends the link and all processes that were started over it.
func (l *Link) end(err error) {
	_, _ = l.out.Close(), l.in.Close()
	close(l.disconnected)
	l.mu.Lock()
	closed := l.closed
	l.mu.Unlock()
	why := ErrBroken
	if !errors.Is(err, io.EOF) {
		why = fmt.Errorf("%w: %w", ErrBroken, err)
	}
	var x environment.Exit
	if closed { // the agent kills its processes
		x = environment.Exit{Code: -1, Signal: unix.SignalName(unix.SIGKILL)}
	} else {
		x = l.lost()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.why = why
	close(l.ended)
	for _, p := range l.started {
		p.end(x)
	}
}

// sendHeartbeats sends an empty request at intervals; the agent answers each.
func (l *Link) sendHeartbeats() {
	every := time.NewTicker(beatEvery)
	defer every.Stop()
	for {
		_ = l.tell(request{}) // receive notices a broken connection
		select {
		case <-l.ended:
			return
		case <-every.C:
		}
	}
}

// tell sends a request and does not wait for an answer.
func (l *Link) tell(r request, files ...*os.File) error {
	l.encoder.Lock()
	defer l.encoder.Unlock()
	if len(files) == 0 {
		return l.encoder.Encode(r)
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return unixsock.Send(l.conn, append(text, '\n'), files...)
}

// ask sends a request and waits at most bound for its answer.
func (l *Link) ask(ctx context.Context, r request, bound time.Duration) (event, error) {
	return l.askFor(ctx, nil, r, bound)
}

// askFor is ask with descriptors. starts is the process that the request starts, or nil: it is
// registered under the number of the request before its first event can arrive.
func (l *Link) askFor(ctx context.Context, starts *Process, r request, bound time.Duration, files ...*os.File) (event, error) {
	answer := make(chan event, 1)
	l.mu.Lock()
	l.number++
	r.Number = l.number
	l.waiting[r.Number] = answer
	if starts != nil {
		starts.number = r.Number
		l.started[r.Number] = starts
	}
	l.mu.Unlock()
	if err := l.tell(r, files...); err != nil {
		select {
		case <-l.ended:
			return event{}, l.why
		case <-time.After(askBound):
			return event{}, fmt.Errorf("%w: %w", ErrBroken, err)
		}
	}
	late := time.NewTimer(bound)
	defer late.Stop()
	select {
	case e := <-answer:
		if e.Failure != nil {
			return e, e.Failure
		}
		return e, nil
	case <-l.ended:
		return event{}, l.why
	case <-ctx.Done():
		return event{}, ctx.Err()
	case <-late.C:
		return event{}, fmt.Errorf("%w: silent for %v", ErrBroken, bound)
	}
}

// Look reads back limits, security state and volume as the agent sees them.
func (l *Link) Look(ctx context.Context) (*Seen, error) {
	e, err := l.ask(ctx, request{Look: true}, askBound)
	return e.Seen, err
}

// Start starts tare's binary in the pod with the arguments of p, in the directory dir. within are
// the limits of the process; nil: none. A process with files for counters and facts is the load that
// is measured: the link writes its state and the settings that it read back to these files.
func (l *Link) Start(ctx context.Context, p environment.Process, dir string, within *Bounds) (*Process, error) {
	out, err := l.local(p)
	if err != nil {
		return nil, err
	}
	s := start{Args: p.Args, Env: p.Env, Dir: dir, Bounds: within}
	if out.memory != nil {
		s.Threads = out.memory.Threads()
	}
	_, err = l.start(ctx, out, s)
	return out, err
}

// StartWith starts tare's binary in a pod on this host with descriptors and a whole environment.
// The first file is standard output and standard error; the others are descriptors 3, 4, ... It
// returns the pid in the pod. The Process has no log and no state, only how it ended.
func (l *Link) StartWith(ctx context.Context, args, env []string, files ...*os.File) (*Process, int, error) {
	out := &Process{link: l, done: make(chan struct{})}
	pid, err := l.start(ctx, out, start{Args: args, Env: env, Files: len(files)}, files...)
	return out, pid, err
}

func (l *Link) start(ctx context.Context, p *Process, s start, files ...*os.File) (int, error) {
	e, err := l.askFor(ctx, p, request{Start: &s}, askBound, files...)
	if err != nil {
		l.mu.Lock()
		delete(l.started, p.number)
		l.mu.Unlock()
		p.end(environment.Exit{Code: -1, Err: err})
	}
	return e.Pid, err
}

// Gate closes (true) or opens the gate of the load.
func (l *Link) Gate(closed bool) error {
	_, err := l.ask(context.Background(), request{Gate: &closed}, askBound)
	return err
}

// Pause closes the gate and waits until no operation is in flight.
func (l *Link) Pause() error {
	_, err := l.ask(context.Background(), request{Pause: true}, askBound)
	return err
}

// Measure lets the load run for a window. It converts Sample.Start from the pod's clock to this host's.
func (l *Link) Measure(ctx context.Context, v wire.WindowSpec) (wire.Sample, error) {
	e, err := l.ask(ctx, request{Measure: &v}, askBound+v.Discard+v.Length+v.Steady+2*v.Limit)
	if e.Sample == nil {
		return wire.Sample{}, err
	}
	e.Sample.Start -= l.clock.Offset
	return *e.Sample, err
}

// Watch reads the probes and operations of this pod's process for a window, while a load in another
// pod is measured.
func (l *Link) Watch(ctx context.Context, v wire.WindowSpec) (wire.Sample, error) {
	e, err := l.ask(ctx, request{Watch: &watchSpec{v.Discard, v.Length}}, askBound+v.Discard+v.Length)
	if e.Sample == nil {
		return wire.Sample{}, err
	}
	return *e.Sample, err
}

// signal sends a request that stops or continues all processes of the pod.
func (l *Link) signal(r request, within time.Duration) error {
	_, err := l.ask(context.Background(), r, askBound+within)
	return err
}

var _ wire.Remote = (*Link)(nil)
