package reach

import (
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"
)

// Both ends see the same connection, and nobody else's answer is taken for the right
// one.
func TestReach(t *testing.T) {
	l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:0")))
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().(*net.TCPAddr).AddrPort()
	var met []Met
	var answering sync.WaitGroup
	answering.Go(func() { Answer(l, "word", func(m Met) { met = append(met, m) }) })
	var from netip.AddrPort
	err = Until(t.Context(), time.Minute, func() (err error) {
		from, err = Ask(t.Context(), at, "word")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Ask(t.Context(), at, "else"); err == nil {
		t.Error("another word was taken for the answer")
	}
	l.Close()
	answering.Wait()
	if len(met) != 1 || met[0] != (Met{from, from, at}) {
		t.Errorf("met %v, asked from %v", met, from)
	}
	tries := 0
	if err := Until(t.Context(), 0, func() error { tries++; _, err := Ask(t.Context(), at, "word"); return err }); err == nil || tries != 1 {
		t.Errorf("nobody answers: %v after %d tries", err, tries)
	}
}
