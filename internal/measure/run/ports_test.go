package run

import (
	"fmt"
	"net"
	"testing"
)

// Two runs at the same time do not begin with the same port. A run hands out no port twice, and
// none on which somebody listens.
func TestPortsOfRuns(t *testing.T) {
	firsts := map[int]bool{}
	for range 20 {
		var p ports
		seen := map[int]bool{}
		for i := range 10 {
			port, err := p.next()
			if err != nil || seen[port] || port < firstPort || port >= lastPort {
				t.Fatalf("port %d: %v", port, err)
			}
			if seen[port] = true; i == 0 {
				firsts[port] = true
			}
		}
	}
	if len(firsts) < 10 {
		t.Errorf("20 runs begin with %d ports", len(firsts))
	}
	p := ports{last: 4000}
	taken, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", firstPort+4001))
	if err != nil {
		t.Skip(err) // somebody has it already
	}
	defer taken.Close()
	if port, err := p.next(); err != nil || port == firstPort+4001 {
		t.Errorf("port %d, which is taken: %v", port, err)
	}
}
