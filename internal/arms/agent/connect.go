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

// Connect makes the link to an agent over a stream: in has the agent's events, out the requests to
// it. When the stream breaks, lost is called; all processes at the other end ended as it says.
// listener hears of silence and may be nil. Closing the link ends the agent.
func Connect(ctx context.Context, in io.ReadCloser, out io.WriteCloser, lost func() environment.Exit, listener SilenceListener) (*Link, error) {
	l := newLink(in, out, lost)
	l.listener = listener
	go l.receive(lostAfter)
	go l.sendHeartbeats()
	if err := l.setClock(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("connect to the pod's first process: %w", err), l.Close())
	}
	return l, nil
}

// Dial makes the link to the agent that is process pid of this host. socket is a path in the
// agent's container, which the agent may not have made yet. The kernel closes the connection when
// the agent ends, so there are no heartbeats. lost is as in Connect.
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
			go l.receive(math.MaxInt64)
			return l, nil
		}
		if !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.ECONNREFUSED) {
			return nil, fmt.Errorf("connect to the pod's first process: %w", err)
		}
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); err != nil {
			return nil, errors.New("the pod's first process ended before it could be asked")
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("connect to the pod's first process: %w", ctx.Err())
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// check asks the kernel which process listens.
func check(conn *net.UnixConn, pid int) error {
	got, err := unixsock.Peer(conn)
	if err == nil && got != pid {
		err = fmt.Errorf("process %d listens in the pod instead of its first process, %d", got, pid)
	}
	return err
}

// Clock relates the clock of the agent's host to this host's.
type Clock struct {
	Offset int64         // CLOCK_MONOTONIC there minus here, in ns, with an error of at most Trip/2
	Trip   time.Duration // the shortest round trip
}

// trips is the number of round trips by which the offset is measured.
const trips = 10

// Clock is the agent's clock, as measured by Connect.
func (l *Link) Clock() Clock { return l.clock }

// setClock measures the offset by the shortest round trip.
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
