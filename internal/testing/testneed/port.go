package testneed

import (
	"math/rand/v2"
	"net"
	"strconv"
	"sync/atomic"
	"testing"
)

// The range of ports for servers of tests. The kernel gives clients none of them
// (ip_local_port_range begins at 32768), so a free port stays free until the server listens.
const firstPort, ports = 10000, 22000

var nextPort atomic.Int64

// Port is a TCP port on loopback on which nothing listens, and which no other test of this
// process got. Each process begins at a random port.
func Port(t testing.TB) int {
	t.Helper()
	nextPort.CompareAndSwap(0, 1+rand.Int64N(ports))
	for range ports {
		port := firstPort + int(nextPort.Add(1)%ports)
		if l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			l.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}

// Address is loopback with a Port.
func Address(t testing.TB) string {
	t.Helper()
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(Port(t)))
}
