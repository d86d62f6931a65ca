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
	// mostRequest are the bytes of a request: the kernel takes arguments and variables of
	// a process up to 6 MiB, and JSON makes some bytes longer.
	mostRequest = 16 << 20
	// mostEvent are those of an event, whose longest is the trace of a window, or what a
	// load has read back.
	mostEvent = 64 << 20
	// mostTicks are the ticks of a trace.
	mostTicks = 1 << 20
)

// bounded is a reader that has an error when a message is longer than most bytes.
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

// heed hands on what is asked, each request with the next of the descriptors that came, until
// the stream ends: nil. A request that tare does not make, or of more than so many bytes, is an error.
func heed(in io.Reader, most int, files func(n int) []*os.File, do func(request, []*os.File)) error {
	said := &bounded{Reader: in, most: most}
	d := json.NewDecoder(said)
	d.DisallowUnknownFields()
	for {
		said.next()
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

// check refuses what tare does not ask, for it is not tare who asks then, or not what it
// has said that arrives.
func (r request) check() error {
	things := 0
	for _, asked := range []bool{
		r.Start != nil, r.Kill != 0, r.Gate != nil, r.Pause, r.Measure != nil, r.Watch != nil, r.Look,
		r.Echo != nil, r.Probe != nil, r.StopEcho, r.Try, r.Stop != nil, r.Resume,
	} {
		if asked {
			things++
		}
	}
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

// possible says whether there are such windows.
func possible(v wire.WindowSpec) bool {
	return v.Discard >= 0 && v.Length >= 0 && v.Steady >= 0 && v.Tick >= 0 && (v.Tick == 0 || v.Length/v.Tick <= mostTicks)
}
