package pods

import (
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/testing/testneed"
)

// listening is an address of a listener that answers with other words.
func listening(t *testing.T) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte(strings.Repeat("other words ", 10)))
			c.Close()
		}
	}()
	return l.Addr().(*net.TCPAddr).AddrPort()
}

// unused is an address without a listener. Each test needs its own: a child that has just started keeps
// the inherited listener a moment longer.
func unused(t *testing.T) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).AddrPort()
}

// A way is proved only when the right listener answers.
func TestProve(t *testing.T) {
	testneed.Root(t)
	free := unused(t)
	if _, err := prove(t.Context(), "/proc/self/ns/net", "/proc/self/ns/net", route{dial: free, pod: free}, time.Minute); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		name string
		route
		says string
	}{
		{"nobody leads there", route{dial: netip.MustParseAddrPort("127.0.0.2:1"), pod: unused(t)}, "refused"},
		{"somebody else", route{dial: listening(t), pod: unused(t)}, "another server"},
	} {
		if _, err := prove(t.Context(), "/proc/self/ns/net", "/proc/self/ns/net", c.route, 0); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
}
