package agent

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"github.com/tarelab/tare/internal/linux/reach"
)

// echoListener answers at the address of a server that does not run yet.
type echoListener struct {
	answering  sync.WaitGroup
	listener   *net.TCPListener // nil: it does not listen
	handshakes []reach.Handshake
}

func (a *agent) startEcho(r request, _ []*os.File) (event, error) {
	return event{}, a.echo.start(*r.Echo)
}

func (a *agent) stopEcho(request, []*os.File) (event, error) {
	return event{Handshakes: a.echo.stop()}, nil
}

func (d *echoListener) start(q probeTarget) error {
	d.stop()
	l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(q.At))
	if err != nil {
		return fmt.Errorf("listen in the pod: %w", err)
	}
	d.listener, d.handshakes = l, nil
	d.answering.Go(func() { reach.Echo(l, q.Word, func(m reach.Handshake) { d.handshakes = append(d.handshakes, m) }) })
	return nil
}

// stop ends the answering and returns who asked.
func (d *echoListener) stop() []reach.Handshake {
	if d.listener != nil {
		d.listener.Close()
		d.answering.Wait()
		d.listener = nil
	}
	return d.handshakes
}

// dialProbe asks at an address until it is answered.
func (a *agent) dialProbe(r request, _ []*os.File) (event, error) {
	var from netip.AddrPort
	err := reach.Until(context.Background(), r.Probe.Within, func() (err error) {
		from, err = reach.Probe(context.Background(), r.Probe.At, r.Probe.Word)
		return err
	})
	return event{Handshakes: []reach.Handshake{{From: from}}}, err
}

// Echo lets the agent answer a word at an address until StopEcho.
func (l *Link) Echo(ctx context.Context, at netip.AddrPort, word string) error {
	_, err := l.ask(ctx, request{Echo: &probeTarget{At: at, Word: word}}, askBound)
	return err
}

// StopEcho ends Echo and returns who was answered.
func (l *Link) StopEcho(ctx context.Context) ([]reach.Handshake, error) {
	n, err := l.ask(ctx, request{StopEcho: true}, askBound)
	return n.Handshakes, err
}

// Probe lets the agent ask for a word at an address until it is answered, and returns the
// address from which the agent asked.
func (l *Link) Probe(ctx context.Context, at netip.AddrPort, word string, within time.Duration) (netip.AddrPort, error) {
	n, err := l.ask(ctx, request{Probe: &probeTarget{at, word, within}}, askBound+within)
	if err != nil || len(n.Handshakes) == 0 {
		return netip.AddrPort{}, err
	}
	return n.Handshakes[0].From, nil
}
