package afar

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/environment"
	"github.com/tarelab/tare/internal/linux/sched"
)

// Link is this side of the stream to an agent.
type Link struct {
	in    io.ReadCloser
	out   io.WriteCloser
	lost  func() environment.Exit // what became of what is there, when the stream broke
	clock Clock

	say struct {
		sync.Mutex
		*json.Encoder
	}
	mu      sync.Mutex
	number  int
	waiting map[int]chan event
	started map[int]*Process
	broken  chan struct{} // closed when the stream is over
	why     error
	closed  bool // by Close
}

// Clock is the clock of the agent's host, as far as the stream tells.
type Clock struct {
	// Offset is what is added to CLOCK_MONOTONIC of this host, ns, and Trip the
	// shortest round trip that was seen: the offset is off by at most half of it.
	Offset int64
	Trip   time.Duration
}

// ErrBroken means that the stream to the agent is over.
var ErrBroken = errors.New("the stream to the pod broke")

// askBound is how long an answer may take beyond what it waits for itself: a pod that
// asks for nothing may wait long for a CPU. That it is there at all its beats say.
const askBound = 2 * time.Minute

// trips is how many round trips tell the offset of the clock.
const trips = 10

// Connect speaks with an agent: in is what it says, out what it hears. lost is
// asked when the stream breaks; what it returns is the reason of everything that
// was there. Closing the link ends the agent.
func Connect(ctx context.Context, in io.ReadCloser, out io.WriteCloser, lost func() environment.Exit) (*Link, error) {
	l := &Link{in: in, out: out, lost: lost, waiting: map[int]chan event{}, started: map[int]*Process{}, broken: make(chan struct{})}
	l.say.Encoder = json.NewEncoder(out)
	go l.hear()
	go l.beat()
	if err := l.setClock(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("speak with the pod's first process: %w", err), l.Close())
	}
	return l, nil
}

// Clock is what the stream told of the agent's clock.
func (l *Link) Clock() Clock { return l.clock }

// Close ends the stream and with it everything at its other end. It may be called
// twice.
func (l *Link) Close() error {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	return l.out.Close()
}

// Broken is closed when the stream is over.
func (l *Link) Broken() <-chan struct{} { return l.broken }

// hear takes what the agent says until the stream ends or falls silent.
func (l *Link) hear() {
	silence := time.AfterFunc(lostAfter, func() { l.in.Close() })
	defer silence.Stop()
	d := json.NewDecoder(bufio.NewReader(l.in))
	for {
		var e event
		if err := d.Decode(&e); err != nil {
			l.end(err)
			return
		}
		silence.Reset(lostAfter)
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
		select {
		case <-l.broken:
			return
		case <-every.C:
			_ = l.tell(request{}) // that it cannot be said shows in hear
		}
	}
}

func (l *Link) tell(r request) error {
	l.say.Lock()
	defer l.say.Unlock()
	return l.say.Encode(r)
}

// ask sends a request and waits for its answer; prepared is called with its number
// before anything can happen to it.
func (l *Link) ask(ctx context.Context, r request, bound time.Duration, prepared func(number int)) (event, error) {
	answer := make(chan event, 1)
	l.mu.Lock()
	l.number++
	r.Number = l.number
	l.waiting[r.Number] = answer
	if prepared != nil {
		prepared(r.Number)
	}
	l.mu.Unlock()
	if err := l.tell(r); err != nil {
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
		if e.Failure != "" {
			return e, errors.New(e.Failure)
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

// setClock takes the offset from the shortest round trip.
func (l *Link) setClock(ctx context.Context) error {
	for range trips {
		before := sched.Monotonic()
		e, err := l.ask(ctx, request{}, askBound, nil)
		if err != nil {
			return err
		}
		trip := sched.Monotonic() - before
		if l.clock.Trip == 0 || time.Duration(trip) < l.clock.Trip {
			l.clock = Clock{Offset: e.Now - before - trip/2, Trip: time.Duration(trip)}
		}
	}
	return nil
}

// Look reads back what the agent sees.
func (l *Link) Look(ctx context.Context) (*Seen, error) {
	e, err := l.ask(ctx, request{Look: true}, askBound, nil)
	return e.Seen, err
}

// Start starts this binary there with other arguments, in a directory, within bounds
// where there are some. With counters and a file for facts, as every load has them, it is the load that is
// led: what it says of its state and what it read back is written into these.
func (l *Link) Start(ctx context.Context, p environment.Process, dir string, within *Bounds) (*Process, error) {
	s := &start{Args: p.Args, Env: p.Env, Dir: dir, Bounds: within}
	out, err := l.local(p)
	if err != nil {
		return nil, err
	}
	if out.memory != nil {
		s.Threads = out.memory.Threads()
	}
	_, err = l.ask(ctx, request{Start: s}, askBound, func(number int) {
		out.number = number
		l.started[number] = out
	})
	if err != nil {
		l.mu.Lock()
		delete(l.started, out.number)
		l.mu.Unlock()
		out.end(environment.Exit{Code: -1, Err: err})
		return nil, err
	}
	return out, nil
}

// Gate closes or opens the gate of the load.
func (l *Link) Gate(closed bool) error {
	_, err := l.ask(context.Background(), request{Gate: &closed}, askBound, nil)
	return err
}

// Pause closes it and waits until nothing is in flight.
func (l *Link) Pause() error {
	_, err := l.ask(context.Background(), request{Pause: true}, askBound, nil)
	return err
}

// Measure lets the load run for a window; the begin of it is in this host's time.
func (l *Link) Measure(ctx context.Context, v environment.WindowSpec) (environment.Sample, error) {
	e, err := l.ask(ctx, request{Measure: &v}, askBound+v.Discard+v.Length+v.Steady+2*v.Limit, nil)
	if e.Sample == nil {
		return environment.Sample{}, err
	}
	e.Sample.Start -= l.clock.Offset
	return *e.Sample, err
}

// Watch reads the probes of what runs there and what it counts, as long as the load
// that it belongs to is measured elsewhere.
func (l *Link) Watch(ctx context.Context, v environment.WindowSpec) (environment.Sample, error) {
	e, err := l.ask(ctx, request{Watch: &watch{v.Discard, v.Length}}, askBound+v.Discard+v.Length, nil)
	if e.Sample == nil {
		return environment.Sample{}, err
	}
	return *e.Sample, err
}

// signal has everything there stopped or continued.
func (l *Link) signal(r request, within time.Duration) error {
	e, err := l.ask(context.Background(), r, askBound+within, nil)
	if e.Failure == environment.ErrNotFrozen.Error() {
		return environment.ErrNotFrozen
	}
	return err
}

var _ environment.Remote = (*Link)(nil)
