package testneed

import (
	"math/rand/v2"
	"net"
	"strconv"
	"sync/atomic"
	"testing"
)

// Ports from which the kernel takes none for a client (ip_local_port_range begins at
// 32768): what is free stays free until the server of the test has it.
const firstPort, ports = 10000, 22000

var nextPort atomic.Int64

// Port is a TCP port of loopback that nobody listens on, and that no other test of this
// process was given. Processes begin anywhere.
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

// Address is a Port with loopback's address before it.
func Address(t testing.TB) string {
	t.Helper()
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(Port(t)))
}
