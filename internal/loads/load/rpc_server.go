package load

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"runtime"
	"sync/atomic"

	"github.com/tarelab/tare/internal/wire/hidden"
)

// RPCServer are the parameters of rpc-server.
type RPCServer struct {
	Listen string `json:"listen"` // host:port
	// Connections is the number of concurrent connections. Further ones are served by system calls
	// through Go's runtime, which cost more CPU time.
	Connections int `json:"connections,omitempty"`
	// Rounds of arithmetic, as of spin, that a request takes.
	Rounds int `json:"rounds,omitempty"`
}

// The protocol: the client sends a greeting of magic, size of its requests and size of the
// responses (4 bytes each, little endian). Then the server answers each request by one response,
// which begins with the first 8 bytes of the request.
const (
	rpcMagic   = 0x72657261 // "arer"
	greetBytes = 12
	rpcHead    = 8
	maxMessage = 16 << 20
)

// serveRPC serves each connection on its own thread until SIGTERM.
func serveRPC(ctx context.Context, params []byte) error {
	var p RPCServer
	if err := hidden.Decode(params, &p); err != nil {
		return err
	}
	if err := BecomeNobody("", ""); err != nil {
		return err
	}
	DisableGC()
	RaiseMaxProcs(p.Connections)
	l, err := net.Listen("tcp", p.Listen)
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	context.AfterFunc(ctx, func() { l.Close() })
	var raw atomic.Int64 // connections
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) && ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("serve: %w", err)
		}
		mine := raw.Add(1) <= int64(p.Connections)
		go func() {
			defer raw.Add(-1)
			if link, err := NewLink(c, mine); err == nil {
				answer(link, p.Rounds)
			}
		}()
	}
}

// answer serves one connection until it ends. It reports no error: the client sees the end.
func answer(l *Link, rounds int) {
	runtime.LockOSThread()
	defer l.close()
	var greet [greetBytes]byte
	if l.readFull(greet[:]) != nil || binary.LittleEndian.Uint32(greet[:]) != rpcMagic {
		return
	}
	in, out := binary.LittleEndian.Uint32(greet[4:]), binary.LittleEndian.Uint32(greet[8:])
	if min(in, out) < rpcHead || max(in, out) > maxMessage {
		return
	}
	request, response := make([]byte, in), Noise(int(out), 1)
	for x := uint64(1); l.readFull(request) == nil; {
		if x = spin(x, rounds); x == 0 { // never with xorshift; the compiler must not drop the result
			return
		}
		copy(response, request[:rpcHead])
		if l.WriteFull(response) != nil {
			return
		}
	}
}
