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
	// Connections is how many there will be at the same time. More are served
	// too, at a price.
	Connections int `json:"connections,omitempty"`
}

// The protocol. A client greets once: magic, size of its requests, size of
// the responses it wants (4 bytes each, little endian). From then on every
// request is answered by one response that begins with the first 8 bytes of
// the request.
const (
	rpcMagic   = 0x72657261 // "arer"
	greetBytes = 12
	rpcHead    = 8
	maxMessage = 16 << 20
)

// serveRPC answers on any number of connections, each with a thread of its
// own, until told to end.
func serveRPC(ctx context.Context, params []byte) error {
	var p RPCServer
	if err := hidden.Decode(params, &p); err != nil {
		return err
	}
	if err := BecomeNobody("", ""); err != nil {
		return err
	}
	KeepGarbage()
	Blocking(p.Connections)
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
				answer(link)
			}
		}()
	}
}

// answer serves one connection. However it ends, the client sees it; a server
// has nobody to tell.
func answer(l *Link) {
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
	for l.readFull(request) == nil {
		copy(response, request[:rpcHead])
		if l.WriteFull(response) != nil {
			return
		}
	}
}
