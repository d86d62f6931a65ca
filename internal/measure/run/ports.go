package run

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
)

// The ports of servers in arms lie below the kernel's range of ephemeral ports
// (net.ipv4.ip_local_port_range, by default from 32768 on): a client must not take a port between
// next and the server's listen.
const (
	firstPort = 20000
	lastPort  = 32000
)

// ports hands out TCP ports, each once in a run. It begins at a random port, so that two runs at the
// same time do not choose the same. The zero value is ready.
type ports struct {
	mu   sync.Mutex
	last int // offset from firstPort; 0: none was handed out
}

// next returns a port on which nobody listens now, on any address.
func (p *ports) next() (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last == 0 {
		p.last = rand.IntN(lastPort - firstPort)
	}
	for range lastPort - firstPort {
		p.last++
		port := firstPort + p.last%(lastPort-firstPort)
		if ln, err := net.Listen("tcp", fmt.Sprintf(":%d", port)); err == nil {
			return port, ln.Close()
		}
	}
	return 0, errors.New("no free TCP port from 20000 to 32000")
}
