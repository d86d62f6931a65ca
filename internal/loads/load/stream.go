package load

import (
	"context"
	"fmt"

	"github.com/tarelab/tare/internal/wire/counter"
	"github.com/tarelab/tare/internal/wire/hidden"
)

// Stream are the parameters of stream.
type Stream struct {
	// Bytes is the memory of each thread. It must be larger than the CPU's caches.
	Bytes int64 `json:"bytes"`
}

// streamChunk is the number of bytes that one operation copies.
const streamChunk = 1 << 20

// runStream copies memory chunk by chunk in the order of the addresses. It loses throughput by
// losing memory bandwidth or CPU time.
func runStream(ctx context.Context, m *counter.Memory, params []byte) error {
	var p Stream
	if err := hidden.Decode(params, &p); err != nil {
		return err
	}
	if p.Bytes < 2*streamChunk {
		return fmt.Errorf("bytes %d: want at least %d", p.Bytes, 2*streamChunk)
	}
	half := p.Bytes / 2 / streamChunk * streamChunk
	areas := make([][]byte, m.Threads())
	for i := range areas {
		areas[i] = make([]byte, 2*half)
		for at := 0; at < len(areas[i]); at += 4096 {
			areas[i][at] = 1 // the kernel allocates a page at the first write
		}
	}
	m.SetReady()
	return Each(ctx, m, func(i int) error {
		from, to := areas[i][:half], areas[i][half:]
		at := int64(0)
		for slot := m.Slot(i); !m.Stopped(); {
			start := m.Begin(slot)
			copy(to[at:at+streamChunk], from[at:at+streamChunk])
			m.End(slot, start, nil)
			if at += streamChunk; at == half {
				at, from, to = 0, to, from
			}
		}
		return nil
	})
}
