package run

import (
	"errors"
	"fmt"
	"net"
	"sync"
)

// The ports of servers in arms lie below the range from which the kernel takes
// the ports of clients (32768 and up unless it was changed): a client must not
// take one between choosing and listening.
const (
	firstPort = 20000
	lastPort  = 32000
)

// ports hands out TCP ports, each once in a run. The zero value is ready.
type ports struct {
	mu   sync.Mutex
	last int
}

// next is a port that nobody listens on now, on any address.
func (p *ports) next() (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for range lastPort - firstPort {
		p.last++
		port := firstPort + p.last%(lastPort-firstPort)
		if ln, err := net.Listen("tcp", fmt.Sprintf(":%d", port)); err == nil {
			return port, ln.Close()
		}
	}
	return 0, errors.New("no free TCP port from 20000 to 32000")
}
