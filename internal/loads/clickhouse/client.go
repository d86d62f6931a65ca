package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/tarelab/tare/internal/databases/clickhouse"
	"github.com/tarelab/tare/internal/loads/load"
	"github.com/tarelab/tare/internal/wire/counter"
)

// queryClient is one client with its connection and its slot of the counters.
type queryClient struct {
	of   *queryRun
	slot *counter.Slot

	mu     sync.Mutex // guards link and closed
	link   *clickhouse.Conn
	closed bool      // no new connection
	broken time.Time // when the connection broke; zero while it works
}

var errClosed = errors.New("told to end")

// dial connects unless hangUp was called.
func (c *queryClient) dial(ctx context.Context) error {
	link, err := clickhouse.Dial(ctx, c.of.at)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		link.Close()
		return errClosed
	}
	c.link = link
	return nil
}

// hangUp closes the connection, which wakes a client that waits for an answer, and forbids new ones.
func (c *queryClient) hangUp() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed = true; c.link != nil {
		c.link.Close()
	}
}

// run sends queries until the load is stopped. A failed query counts as an error; a lost server ends
// the load.
func (c *queryClient) run() error {
	for !c.of.m.Stopped() {
		if c.link.Broken() {
			if err := c.redial(); err != nil {
				return err
			}
			continue
		}
		start := c.of.m.Begin(c.slot)
		if c.of.m.Stopped() {
			c.slot.Idle()
			return nil
		}
		// All clients take from one list, so that each window has an even mix of the queries.
		query := c.of.Queries[(c.of.turn.Add(1)-1)%uint64(len(c.of.Queries))]
		err := c.link.Run(query)
		if c.of.m.Stopped() {
			c.slot.Idle() // hangUp broke the connection
			return nil
		}
		c.of.m.End(c.slot, start, err)
		if err == nil {
			c.broken = time.Time{}
			continue
		}
		c.of.logOnce.Do(func() { fmt.Fprintf(os.Stderr, "tare: %v; more of that is only counted\n", c.of.failed(query, err)) })
	}
	return nil
}

// redial makes a new connection between two operations. It fails if the server has been out of
// reach for clickhouseGone.
func (c *queryClient) redial() error {
	if c.broken.IsZero() {
		c.broken = time.Now()
	}
	if err := c.of.server.Alive(); err != nil {
		return err
	}
	c.link.Close()
	err := c.dial(context.Background()) // bounded by db.ConnectBound
	switch {
	case err == nil || c.of.m.Stopped():
		return nil
	case time.Since(c.broken) > clickhouseGone:
		return c.of.server.Cause(fmt.Errorf("the server at %s is gone: %w", c.of.at.Dial, err))
	}
	time.Sleep(load.Redial)
	return nil
}
