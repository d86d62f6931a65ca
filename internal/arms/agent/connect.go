package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/linux/sched"
	"github.com/tarelab/tare/internal/linux/unixsock"
)

// Connect speaks with an agent: in is what it says, out what it hears. lost is
// asked when the stream breaks; what it returns is the reason of everything that
// was there. ear is told of silence; nil: nobody is. Closing the link ends the agent.
func Connect(ctx context.Context, in io.ReadCloser, out io.WriteCloser, lost func() environment.Exit, ear Ear) (*Link, error) {
	l := newLink(in, out, lost)
	l.ear = ear
	go l.hear(lostAfter)
	go l.beat()
	if err := l.setClock(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("speak with the pod's first process: %w", err), l.Close())
	}
	return l, nil
}

// Dial speaks with the agent that is process pid of this host, at the socket as its
// container sees it. It may still be on its way there. Whoever has its connection knows
// when it ends: no beats wake it. The rest is as with Connect.
func Dial(ctx context.Context, pid int, socket string, lost func() environment.Exit) (*Link, error) {
	path := fmt.Sprintf("/proc/%d/root%s", pid, socket)
	for {
		conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
		if err == nil {
			if err := check(conn, pid); err != nil {
				return nil, errors.Join(err, conn.Close())
			}
			l := newLink(conn, conn, lost)
			l.conn = conn
			go l.hear(math.MaxInt64)
			return l, nil
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
func check(conn *net.UnixConn, pid int) error {
	got, err := unixsock.Peer(conn)
	if err == nil && got != pid {
		err = fmt.Errorf("process %d listens in the pod, and its first process is %d", got, pid)
	}
	return err
}

// Clock is the clock of the agent's host, as far as the stream tells.
type Clock struct {
	// Offset is what is added to CLOCK_MONOTONIC of this host, ns, and Trip the
	// shortest round trip that was seen: the offset is off by at most half of it.
	Offset int64
	Trip   time.Duration
}

// trips is how many round trips tell the offset of the clock.
const trips = 10

// Clock is what the stream told of the agent's clock.
func (l *Link) Clock() Clock { return l.clock }

// setClock takes the offset from the shortest round trip.
func (l *Link) setClock(ctx context.Context) error {
	for range trips {
		before := sched.Monotonic()
		e, err := l.ask(ctx, request{}, askBound)
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
