package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"

	"github.com/tarelab/tare/internal/linux/unixsock"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/internal/wire/counter"
)

const (
	// mostRequest is the size of a request in bytes: the kernel takes up to 6 MiB of arguments
	// and environment, and JSON makes some bytes longer.
	mostRequest = 16 << 20
	// mostEvent is the size of an event in bytes: the trace of a window and the settings that a
	// load read back are the longest.
	mostEvent = 64 << 20
	// mostTicks is the number of ticks in a trace.
	mostTicks = 1 << 20
)

// bounded fails when a message is longer than most bytes.
type bounded struct {
	io.Reader
	most, left int
}

// next begins a message.
func (b *bounded) next() { b.left = b.most }

func (b *bounded) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, fmt.Errorf("a message of more than %d bytes", b.most)
	}
	n, err := b.Reader.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// readRequests calls do for each request, with as many of the received descriptors as the
// request has files. It returns nil when the stream ends, and an error for a request that is
// longer than most bytes or that tare does not make.
func readRequests(in io.Reader, most int, files func(n int) []*os.File, do func(request, []*os.File)) error {
	messages := &bounded{Reader: in, most: most}
	d := json.NewDecoder(messages)
	d.DisallowUnknownFields()
	for {
		messages.next()
		var r request
		err := d.Decode(&r)
		if errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, syscall.ECONNRESET) {
			return nil
		}
		if err == nil {
			err = r.check()
		}
		if err != nil {
			return fmt.Errorf("read what tare asks: %w", err)
		}
		if r.Start != nil {
			do(r, files(r.Start.Files))
		} else {
			do(r, nil)
		}
	}
}

// check refuses requests that tare does not make: another program sent them, or the stream is
// damaged.
func (r request) check() error {
	things := r.count()
	if r.Number < 0 || things > 1 || r.Number == 0 && things > 0 {
		return fmt.Errorf("request %d asks for %d things", r.Number, things)
	}
	if s := r.Start; s != nil && (s.Files < 0 || s.Files > unixsock.MostFiles || s.Threads < 0 || s.Threads > counter.MaxThreads) {
		return fmt.Errorf("request %d: a process with %d descriptors and %d threads", r.Number, s.Files, s.Threads)
	}
	if r.Measure != nil && !possible(*r.Measure) {
		return fmt.Errorf("request %d: a window of %+v", r.Number, *r.Measure)
	}
	return nil
}

// possible says whether tare asks for such windows.
func possible(v wire.WindowSpec) bool {
	return v.Discard >= 0 && v.Length >= 0 && v.Steady >= 0 && v.Tick >= 0 && (v.Tick == 0 || v.Length/v.Tick <= mostTicks)
}
