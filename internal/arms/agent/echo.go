package agent

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/tarelab/tare/internal/linux/reach"
)

// echoListener is where the agent answers for a server that has not begun yet.
type echoListener struct {
	answering  sync.WaitGroup
	listener   *net.TCPListener // nil: nowhere
	handshakes []reach.Handshake
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

// stop ends the answering, and says who has asked.
func (d *echoListener) stop() []reach.Handshake {
	if d.listener != nil {
		d.listener.Close()
		d.answering.Wait()
		d.listener = nil
	}
	return d.handshakes
}

// dialProbe asks until the answer comes.
func (a *agent) dialProbe(r request) {
	var from netip.AddrPort
	err := reach.Until(context.Background(), r.Probe.Within, func() (err error) {
		from, err = reach.Probe(context.Background(), r.Probe.At, r.Probe.Word)
		return err
	})
	a.answer(r, event{Handshakes: []reach.Handshake{{From: from}}}, err)
}

// Echo has the agent answer the word at an address, until StopEcho.
func (l *Link) Echo(ctx context.Context, at netip.AddrPort, word string) error {
	_, err := l.ask(ctx, request{Echo: &probeTarget{At: at, Word: word}}, askBound)
	return err
}

// StopEcho ends that, and says who was answered.
func (l *Link) StopEcho(ctx context.Context) ([]reach.Handshake, error) {
	n, err := l.ask(ctx, request{StopEcho: true}, askBound)
	return n.Handshakes, err
}

// Probe has the agent ask for the word at an address until the answer comes, and
// returns the address that it asked from.
func (l *Link) Probe(ctx context.Context, at netip.AddrPort, word string, within time.Duration) (netip.AddrPort, error) {
	n, err := l.ask(ctx, request{Probe: &probeTarget{at, word, within}}, askBound+within)
	if err != nil || len(n.Handshakes) == 0 {
		return netip.AddrPort{}, err
	}
	return n.Handshakes[0].From, nil
}
