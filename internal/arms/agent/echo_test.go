package agent

import (
	"net"
	"net/netip"
	"testing"
)

// One agent answers at the server's address, another one asks there, and both report the same connection.
func TestWay(t *testing.T) {
	server, client := newPod(t), newPod(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().(*net.TCPAddr).AddrPort()
	if err := server.Echo(t.Context(), at, "word"); err == nil {
		t.Error("it listens where somebody does")
	}
	l.Close()
	if err := server.Echo(t.Context(), at, "word"); err != nil {
		t.Fatal(err)
	}
	from, err := client.Probe(t.Context(), at, "word", askBound)
	if err != nil {
		t.Fatal(err)
	}
	met, err := server.StopEcho(t.Context())
	if err != nil || len(met) != 1 || met[0].From != from || met[0].Peer != from || met[0].At != at {
		t.Errorf("met %v (%v), asked from %v", met, err, from)
	}
	if _, err := client.Probe(t.Context(), at, "word", 0); err == nil {
		t.Error("somebody answers after that")
	}
	if _, err := client.Probe(t.Context(), netip.MustParseAddrPort("127.0.0.1:1"), "word", 0); err == nil {
		t.Error("somebody answers at port 1")
	}
}
