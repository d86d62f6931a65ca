package run

import (
	"errors"
	"fmt"
	"math/rand/v2"
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

// ports hands out TCP ports, each once in a run. It begins anywhere: a server
// listens a moment after its port was found free, and two runs beside each other
// must not choose the same. The zero value is ready.
type ports struct {
	mu   sync.Mutex
	last int // 0: none was handed out
}

// next is a port that nobody listens on now, on any address.
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
