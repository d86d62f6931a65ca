package driver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/counter"
	"github.com/tarelab/tare/internal/serve"
	"github.com/tarelab/tare/record"
)

// One long-lived sysbench, counted by its server: all statements, whatever the
// script is. It is the same ruler with the hook and without, so it measures what
// the hook costs.

// queries lets sysbench work whenever it is asked for a window.
func (b *bench) queries(ctx context.Context) error {
	c, err := b.client()
	if err != nil {
		return err
	}
	defer c.Close()
	hook, err := counter.Create(b.m.Threads()) // counts events, and nobody looks
	if err != nil {
		return err
	}
	defer hook.Close()
	counts := hook
	if b.NoHook && !b.Both {
		counts = nil
	}
	if b.tool, err = b.start(0, counts, os.Stderr); err != nil {
		return err
	}
	if err := b.warmQueries(ctx, c, counts); err != nil {
		return err
	}
	if err := b.tool.Signal(unix.SIGSTOP); err != nil {
		return err
	}
	b.m.SetReady()
	for {
		r, ok := b.m.Next()
		if !ok {
			return nil
		}
		hook.SetSeed(uint64(r.Mode)) // heeded by a hook that is switched
		if err := b.query(ctx, c, r); err != nil {
			return err
		}
	}
}

// client asks the server beside sysbench.
func (b *bench) client() (*serve.Client, error) {
	return serve.Connect(b.server.Address())
}

// statements asks for the server's counter of what clients sent.
func statements(ctx context.Context, c *serve.Client) (uint64, error) {
	text, err := c.Value(ctx, "SHOW GLOBAL STATUS LIKE 'Questions'")
	if err != nil {
		return 0, fmt.Errorf("read the server's counter of statements: %w", err)
	}
	return strconv.ParseUint(text, 10, 64)
}

// warmQueries waits for the first statements. A hook that counts nothing is
// none.
func (b *bench) warmQueries(ctx context.Context, c *serve.Client, hook *counter.Memory) error {
	first, err := statements(ctx, c)
	if err != nil {
		return err
	}
	err = b.warm(ctx, func() uint64 {
		now, failed := statements(ctx, c)
		if first++; failed != nil || now < first { // this question is one too
			return 0
		}
		return now - first
	})
	if err == nil && hook != nil && hook.Ops() == 0 {
		err = errors.New("the hook in the script counts nothing")
	}
	return err
}

// reading is the server's counter at a moment.
type reading struct {
	at time.Time
	n  uint64
}

// read takes the middle of asking as the moment.
func (b *bench) read(ctx context.Context, c *serve.Client) (reading, error) {
	before := time.Now()
	n, err := statements(ctx, c)
	if err != nil {
		return reading{}, b.server.Because(err)
	}
	return reading{before.Add(time.Since(before) / 2), n}, nil
}

// query answers one request.
func (b *bench) query(ctx context.Context, c *serve.Client, r counter.Request) error {
	if err := b.tool.Signal(unix.SIGCONT); err != nil {
		return err
	}
	if err := pass(ctx, r.Discard); err != nil {
		return err
	}
	b.m.BeginWindow(r)
	from, err := b.read(ctx, c)
	if err != nil {
		return err
	}
	if err := pass(ctx, r.Length); err != nil {
		return err
	}
	to, err := b.read(ctx, c)
	if err != nil {
		return err
	}
	if err := errors.Join(b.alive(), b.tool.Signal(unix.SIGSTOP)); err != nil {
		return err
	}
	b.m.Slot(0).Add(to.n-from.n-1, 0, record.Histogram{}) // one is ours
	b.m.Answer(r, counter.Answer{Seconds: to.at.Sub(from.at).Seconds()})
	return nil
}
