package reach

import (
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"
)

// Both ends see the same connection, and only the right word counts as an answer.
func TestReach(t *testing.T) {
	l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:0")))
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().(*net.TCPAddr).AddrPort()
	var seen []Handshake
	var answering sync.WaitGroup
	answering.Go(func() { Echo(l, "word", func(m Handshake) { seen = append(seen, m) }) })
	var from netip.AddrPort
	err = Until(t.Context(), time.Minute, func() (err error) {
		from, err = Probe(t.Context(), at, "word")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Probe(t.Context(), at, "else"); err == nil {
		t.Error("another word was taken for the answer")
	}
	l.Close()
	answering.Wait()
	if len(seen) != 1 || seen[0] != (Handshake{from, from, at}) {
		t.Errorf("met %v, asked from %v", seen, from)
	}
	tries := 0
	if err := Until(t.Context(), 0, func() error { tries++; _, err := Probe(t.Context(), at, "word"); return err }); err == nil || tries != 1 {
		t.Errorf("nobody answers: %v after %d tries", err, tries)
	}
}
