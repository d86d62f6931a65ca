package afar

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/tarelab/tare/internal/linux/reach"
)

// doors is where the keeper answers for a server that has not begun yet.
type doors struct {
	answering sync.WaitGroup
	listener  *net.TCPListener // nil: nowhere
	met       []reach.Met
}

func (d *doors) open(q question) error {
	d.shut()
	l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(q.At))
	if err != nil {
		return fmt.Errorf("listen in the pod: %w", err)
	}
	d.listener, d.met = l, nil
	d.answering.Go(func() { reach.Answer(l, q.Word, func(m reach.Met) { d.met = append(d.met, m) }) })
	return nil
}

// shut ends the answering, and says who has asked.
func (d *doors) shut() []reach.Met {
	if d.listener != nil {
		d.listener.Close()
		d.answering.Wait()
		d.listener = nil
	}
	return d.met
}

// inquire asks until the answer comes.
func (k *keeper) inquire(o order) {
	var from netip.AddrPort
	err := reach.Until(context.Background(), o.Ask.Within, func() (err error) {
		from, err = reach.Ask(context.Background(), o.Ask.At, o.Ask.Word)
		return err
	})
	k.answer(o, news{Met: []reach.Met{{From: from}}}, err)
}

// Answer has the keeper answer the word at an address, until Hush.
func (l *Link) Answer(ctx context.Context, at netip.AddrPort, word string) error {
	_, err := l.ask(ctx, order{Answer: &question{At: at, Word: word}}, askBound, nil)
	return err
}

// Hush ends that, and says who was answered.
func (l *Link) Hush(ctx context.Context) ([]reach.Met, error) {
	n, err := l.ask(ctx, order{Hush: true}, askBound, nil)
	return n.Met, err
}

// Ask has the keeper ask for the word at an address until the answer comes, and
// returns the address that it asked from.
func (l *Link) Ask(ctx context.Context, at netip.AddrPort, word string, within time.Duration) (netip.AddrPort, error) {
	n, err := l.ask(ctx, order{Ask: &question{at, word, within}}, askBound+within, nil)
	if err != nil || len(n.Met) == 0 {
		return netip.AddrPort{}, err
	}
	return n.Met[0].From, nil
}
