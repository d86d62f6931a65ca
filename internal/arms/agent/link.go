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

// Link is this side of the connection to an agent.
type Link struct {
	in    io.ReadCloser
	out   io.WriteCloser
	conn  *net.UnixConn           // both, on this host: descriptors go with what is said; nil: a stream
	lost  func() environment.Exit // what became of what is there, when the connection broke
	ear   Ear                     // nil: nobody
	clock Clock

	say struct {
		sync.Mutex
		*json.Encoder
	}
	mu      sync.Mutex
	number  int
	waiting map[int]chan event
	started map[int]*Process
	over    chan struct{} // closed when the connection is over
	broken  chan struct{} // closed when it is also known what became of what is there
	why     error
	closed  bool // by Close
}

// ErrBroken means that the stream to the agent is over.
var ErrBroken = errors.New("the stream to the pod broke")

// askBound is how long an answer may take beyond what it waits for itself: a pod that
// asks for nothing may wait long for a CPU. That it is there at all its beats say.
const askBound = 2 * time.Minute

func newLink(in io.ReadCloser, out io.WriteCloser, lost func() environment.Exit) *Link {
	l := &Link{
		in: in, out: out, lost: lost, waiting: map[int]chan event{}, started: map[int]*Process{},
		over: make(chan struct{}), broken: make(chan struct{}),
	}
	l.say.Encoder = json.NewEncoder(out)
	return l
}

// Close ends the stream and with it everything at its other end. It may be called
// twice.
func (l *Link) Close() error {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	if err := l.out.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// Over is closed when the connection to the agent is over, before it is asked what
// became of what was there.
func (l *Link) Over() <-chan struct{} { return l.over }

// hear takes what the agent says until the connection ends, or falls silent for so long.
func (l *Link) hear(patience time.Duration) {
	silence := time.AfterFunc(patience, func() { l.in.Close() })
	defer silence.Stop()
	var quiet *quietness
	if l.ear != nil {
		quiet = listen(l.ear)
		defer quiet.stop()
	}
	said := &bounded{Reader: l.in, most: mostEvent}
	d := json.NewDecoder(said)
	for {
		said.next()
		var e event
		if err := d.Decode(&e); err != nil {
			l.end(err)
			return
		}
		silence.Reset(patience)
		if quiet != nil {
			quiet.heard()
		}
		l.mu.Lock()
		answered, p := l.waiting[e.Number], l.started[e.Number]
		if answered != nil && e.Log == nil && e.State == nil && e.Exit == nil {
			delete(l.waiting, e.Number)
			answered <- e
		}
		l.mu.Unlock()
		if p != nil {
			p.take(e)
		}
	}
}

// end is the end of the stream, and of all that was started over it.
func (l *Link) end(err error) {
	_, _ = l.out.Close(), l.in.Close()
	close(l.over)
	l.mu.Lock()
	closed := l.closed
	l.mu.Unlock()
	became := environment.Exit{Code: -1, Err: fmt.Errorf("%w: %w", ErrBroken, err)}
	if errors.Is(err, io.EOF) {
		became.Err = ErrBroken
	}
	why := became.Err
	if closed { // the agent ends what is left
		became = environment.Exit{Code: -1, Signal: unix.SignalName(unix.SIGKILL)}
	} else {
		became = l.lost()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.why = why
	close(l.broken)
	for _, p := range l.started {
		p.end(became)
	}
}

func (l *Link) beat() {
	every := time.NewTicker(beatEvery)
	defer every.Stop()
	for {
		_ = l.tell(request{}) // that it cannot be said shows in hear
		select {
		case <-l.broken:
			return
		case <-every.C:
		}
	}
}

func (l *Link) tell(r request, files ...*os.File) error {
	l.say.Lock()
	defer l.say.Unlock()
	if len(files) == 0 {
		return l.say.Encode(r)
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return unixsock.Send(l.conn, append(text, '\n'), files...)
}

// ask sends a request and waits for its answer.
func (l *Link) ask(ctx context.Context, r request, bound time.Duration) (event, error) {
	return l.askFor(ctx, nil, r, bound)
}

// askFor is ask, with descriptors; a process that is started by it is known under the
// number of the request before anything can happen to it.
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
		case <-l.broken:
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
	case <-l.broken:
		return event{}, l.why
	case <-ctx.Done():
		return event{}, ctx.Err()
	case <-late.C:
		return event{}, fmt.Errorf("%w: no answer within %v", ErrBroken, bound)
	}
}

// Look reads back what the agent sees.
func (l *Link) Look(ctx context.Context) (*Seen, error) {
	e, err := l.ask(ctx, request{Look: true}, askBound)
	return e.Seen, err
}

// Start starts this binary there with other arguments, in a directory, within bounds
// where there are some. With counters and a file for facts, as every load has them, it
// is the load that is measured: what it says of its state and what it read back is
// written into these.
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

// StartWith does so with descriptors and an environment, on this host: the first of the
// files is its output and errors, the others it inherits as descriptors 3, 4, ... What is
// returned with its number in the pod is known only by how it ends.
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

// Gate closes or opens the gate of the load.
func (l *Link) Gate(closed bool) error {
	_, err := l.ask(context.Background(), request{Gate: &closed}, askBound)
	return err
}

// Pause closes it and waits until nothing is in flight.
func (l *Link) Pause() error {
	_, err := l.ask(context.Background(), request{Pause: true}, askBound)
	return err
}

// Measure lets the load run for a window; the begin of it is in this host's time.
func (l *Link) Measure(ctx context.Context, v wire.WindowSpec) (wire.Sample, error) {
	e, err := l.ask(ctx, request{Measure: &v}, askBound+v.Discard+v.Length+v.Steady+2*v.Limit)
	if e.Sample == nil {
		return wire.Sample{}, err
	}
	e.Sample.Start -= l.clock.Offset
	return *e.Sample, err
}

// Watch reads the probes of what runs there and what it counts, as long as the load
// that it belongs to is measured elsewhere.
func (l *Link) Watch(ctx context.Context, v wire.WindowSpec) (wire.Sample, error) {
	e, err := l.ask(ctx, request{Watch: &watch{v.Discard, v.Length}}, askBound+v.Discard+v.Length)
	if e.Sample == nil {
		return wire.Sample{}, err
	}
	return *e.Sample, err
}

// signal has everything there stopped or continued.
func (l *Link) signal(r request, within time.Duration) error {
	_, err := l.ask(context.Background(), r, askBound+within)
	return err
}

var _ wire.Remote = (*Link)(nil)
