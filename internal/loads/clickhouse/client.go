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

// queryClient is one client with its connection and its slot.
type queryClient struct {
	of   *queryRun
	slot *counter.Slot

	mu     sync.Mutex // guards link and over against hangUp
	link   *clickhouse.Conn
	over   bool
	broken time.Time // since when there is no connection; zero: there is one
}

var errOver = errors.New("told to end")

// dial connects, unless the load was told to end.
func (c *queryClient) dial(ctx context.Context) error {
	link, err := clickhouse.Dial(ctx, c.of.at)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		link.Close()
		return errOver
	}
	c.link = link
	return nil
}

// hangUp wakes the client if it waits for an answer, and lets it ask no more.
func (c *queryClient) hangUp() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over = true; c.link != nil {
		c.link.Close()
	}
}

// run asks queries until the load is told to end. One that fails is counted; a
// server that has gone ends the load.
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
		// The list is cut into windows anywhere, but what is asked in a window is
		// as even as can be.
		query := c.of.Queries[(c.of.turn.Add(1)-1)%uint64(len(c.of.Queries))]
		err := c.link.Run(query)
		if c.of.m.Stopped() {
			c.slot.Idle() // the hanging up is not an error of the server
			return nil
		}
		c.of.m.End(c.slot, start, err)
		if err == nil {
			c.broken = time.Time{}
			continue
		}
		c.of.said.Do(func() { fmt.Fprintf(os.Stderr, "tare: %v; more of that is only counted\n", c.of.failed(query, err)) })
	}
	return nil
}

// redial makes a new connection after one broke, outside of any operation. It
// fails when the server has been out of reach for too long.
func (c *queryClient) redial() error {
	if c.broken.IsZero() {
		c.broken = time.Now()
	}
	if err := c.of.server.Alive(); err != nil {
		return err
	}
	c.link.Close()
	err := c.dial(context.Background()) // it has a limit of its own
	switch {
	case err == nil || c.of.m.Stopped():
		return nil
	case time.Since(c.broken) > clickhouseGone:
		return c.of.server.Cause(fmt.Errorf("the server at %s is gone: %w", c.of.at.Dial, err))
	}
	time.Sleep(load.Redial)
	return nil
}
