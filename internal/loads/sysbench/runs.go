package sysbench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sync"
	"time"

	"github.com/tarelab/tare/internal/loads/load"
	tool "github.com/tarelab/tare/internal/logs/sysbench"
	"github.com/tarelab/tare/internal/wire/counter"
	"github.com/tarelab/tare/record"
)

// One sysbench for each window, for versions or scripts of sysbench without a place for the hook.

// sbReport is sysbench's summary at its end.
type sbReport struct {
	ops     uint64
	seconds float64
	latency record.Histogram
}

// runs runs one sysbench for each window that tare asks for.
func (b *bench) runs(ctx context.Context) error {
	// A first run fails now if sysbench cannot work here.
	if _, err := b.measure(ctx, time.Second, func() {}); err != nil {
		return err
	}
	b.m.SetReady()
	for {
		r, ok := b.m.Next()
		if !ok {
			return nil
		}
		if err := pass(ctx, r.Discard); err != nil {
			return err
		}
		report, err := b.measure(ctx, r.Length, func() { b.m.BeginWindow(r) })
		if err != nil {
			return err
		}
		b.m.Slot(0).Add(report.ops, 0, report.latency)
		b.m.Answer(r, counter.Answer{Seconds: report.seconds})
	}
}

// pass waits for d or until ctx ends.
func pass(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// measure runs sysbench once, for length rounded up to whole seconds. It calls begun when sysbench's
// threads are connected.
func (b *bench) measure(ctx context.Context, length time.Duration, begun func()) (report sbReport, err error) {
	var output bytes.Buffer
	first := &starting{begun: sync.OnceFunc(begun)}
	seconds := max(1, int(math.Ceil(length.Seconds())))
	if b.process, err = b.start(seconds, io.MultiWriter(os.Stderr, &output, first)); err != nil {
		return report, err
	}
	select {
	case <-ctx.Done():
		return report, ctx.Err()
	case <-b.server.Done():
		return report, b.server.Process.Ended()
	case <-b.process.Done():
	}
	if !b.process.OK() {
		return report, b.broken()
	}
	first.begun() // in case this version prints other words at the start
	return readSysbench(output.Bytes())
}

// starting calls begun when sysbench prints that its threads have started.
type starting struct {
	begun  func()
	output []byte
	done   bool
}

// Write looks for these words, which may come in several pieces.
func (s *starting) Write(b []byte) (int, error) {
	if s.done {
		return len(b), nil
	}
	s.output = append(s.output, b...)
	if bytes.Contains(s.output, []byte("Threads started!")) {
		s.done, s.output = true, nil
		s.begun()
	}
	return len(b), nil
}

// readSysbench reads the summary of one run, with its histogram.
func readSysbench(text []byte) (report sbReport, err error) {
	log, err := tool.Parse(bytes.NewReader(text), nil)
	if err != nil {
		return report, fmt.Errorf("read sysbench's report: %w", err)
	}
	if len(log.Runs) != 1 {
		return report, fmt.Errorf("sysbench wrote %d reports instead of one", len(log.Runs))
	}
	run := log.Runs[0]
	if run.General == nil {
		return report, errors.New("sysbench wrote no statistics at its end")
	}
	events, counted := run.General.Events.Get()
	seconds, timed := run.General.Time.Get()
	if !counted || !timed || seconds <= 0 {
		return report, errors.New("sysbench does not say how many events took how long")
	}
	report.ops, report.seconds = uint64(events), seconds
	buckets := map[uint32]uint64{}
	for _, bin := range run.Histogram {
		buckets[uint32(record.Bucket(int64(bin.Seconds*1e9)))] += bin.Count
	}
	report.latency = load.Histogram(buckets)
	return report, nil
}
