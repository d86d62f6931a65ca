package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/databases/redis"
	"github.com/tarelab/tare/internal/databases/redis/resp"
	"github.com/tarelab/tare/internal/loads/load"
	"github.com/tarelab/tare/internal/wire/counter"
	"github.com/tarelab/tare/internal/wire/hidden"
	"github.com/tarelab/tare/internal/wire/readback"
	"github.com/tarelab/tare/record"
)

// Kind sends commands to Redis or Valkey, as redis-benchmark does.
const Kind = "redis" // parameters: Params

// Params are the parameters of redis. Each slot of the counters is a connection with its own thread.
type Params struct {
	load.Database
	// Test is one of Tests.
	Test string `json:"test"`
	// Bytes is the size of a value, Keys the number of keys or elements.
	Bytes int `json:"bytes"`
	Keys  int `json:"keys"`
	// Pipeline is the number of commands that are sent together.
	Pipeline int `json:"pipeline"`
}

// redisSeed is the seed of the commands until the first thaw.
const redisSeed = 1

// redisRun is a running load with its server.
type redisRun struct {
	Params
	m       *counter.Memory
	server  *load.Attached
	at      db.Address
	clients []*redisClient
	logOnce sync.Once // logs the first command that the server refused
}

// redisClient is one connection with its slot.
type redisClient struct {
	*redisCommands
	of      *redisRun
	slot    *counter.Slot
	link    *load.Link
	answers *resp.Reader
	batch   []byte // the commands to send
}

// Bodies are the loads of this folder, by kind.
func Bodies() map[string]load.Body {
	return map[string]load.Body{Kind: load.Counted(run)}
}

func run(ctx context.Context, m *counter.Memory, params []byte) error {
	r := &redisRun{m: m}
	if err := hidden.Decode(params, &r.Params); err != nil {
		return err
	}
	err := load.EndError(ctx, r.run(ctx))
	for _, c := range r.clients {
		c.link.Shut()
	}
	return errors.Join(err, r.server.Stop())
}

func (r *redisRun) run(ctx context.Context) (err error) {
	test, ok := redisTests()[r.Test]
	if !ok {
		return fmt.Errorf("no test %q", r.Test)
	}
	if r.server, err = r.Attach(ctx, redis.Name); err != nil {
		return err
	}
	if err := r.server.Become(""); err != nil {
		return err
	}
	settings, err := r.server.Ready(ctx)
	if err != nil {
		return err
	}
	r.at = r.server.Address()
	load.RaiseMaxProcs(r.m.Threads())
	if err := r.connect(ctx, test); err != nil {
		return err
	}
	settings = append(settings,
		record.Setting{Name: "connections", Got: strconv.Itoa(r.m.Threads())},
		record.Setting{Name: "pipeline", Got: strconv.Itoa(r.Pipeline)})
	if err := readback.Write(load.FactsFd, settings); err != nil {
		return err
	}
	load.DisableGC()
	r.m.SetReady()
	return load.Each(ctx, r.m, func(i int) error {
		runtime.LockOSThread()
		return r.clients[i].run()
	})
}

// connect opens all connections, fills the server over the first, and warms all up with the load's
// commands: a command that fails now would fail in the windows too.
func (r *redisRun) connect(ctx context.Context, test redisTest) error {
	for i := range r.m.Threads() {
		conn, err := r.dial(ctx)
		if err != nil {
			return fmt.Errorf("connection %d of %d: %w", i+1, r.m.Threads(), err)
		}
		l, err := load.NewLink(conn, true)
		if err != nil {
			return err
		}
		context.AfterFunc(ctx, func() {
			r.m.Stop() // first, so that broken connections do not count as errors
			l.Shut()
		})
		c := &redisClient{of: r, slot: r.m.Slot(i), link: l, answers: resp.NewReader(l), redisCommands: newRedisCommands(r.Params, test, i)}
		r.clients = append(r.clients, c)
	}
	if err := r.clients[0].fill(); err != nil {
		return fmt.Errorf("fill the server: %w", r.server.Cause(err))
	}
	for range load.WarmCalls {
		for _, c := range r.clients {
			refused, err := c.once()
			if err != nil {
				return r.server.Cause(err)
			}
			if refused != nil {
				return fmt.Errorf("the server refuses a command of the test %s: %w", r.Test, refused.first)
			}
		}
	}
	return nil
}

func (r *redisRun) dial(ctx context.Context) (net.Conn, error) {
	ctx, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	return redis.Dial(ctx, r.at)
}

// run sends commands until the load is stopped. A refused command counts as an error. A broken
// connection ends the load: a server closes none while it runs.
func (c *redisClient) run() error {
	m, all := c.of.m, uint64(c.of.Pipeline)
	for !m.Stopped() {
		start := m.Begin(c.slot)
		if m.Stopped() {
			break
		}
		c.rng.Follow(m)
		refused, err := c.once()
		if m.Stopped() {
			break // the connection was shut down at SIGTERM
		}
		if err != nil {
			m.EndMany(c.slot, start, 0, all)
			return fmt.Errorf("the server is gone: %w", c.of.server.Cause(err))
		}
		failed := uint64(0)
		if refused != nil {
			failed = refused.commands
			c.of.logOnce.Do(func() {
				fmt.Fprintf(os.Stderr, "tare: the server refuses a command: %v; more of that is only counted\n", refused.first)
			})
		}
		m.EndMany(c.slot, start, all-failed, failed)
	}
	c.slot.Idle()
	return nil
}

// refusals are the commands of a batch that the server refused.
type refusals struct {
	commands uint64
	first    resp.Error
}

// once sends a batch of commands and reads the answers. After an error the connection is broken.
func (c *redisClient) once() (*refusals, error) {
	c.batch = c.batch[:0]
	for range c.of.Pipeline {
		c.batch = c.next(c.batch)
	}
	return c.exchange(c.of.Pipeline)
}

// exchange sends the batch, which has so many commands, and reads the answers.
func (c *redisClient) exchange(commands int) (*refusals, error) {
	if err := c.link.WriteFull(c.batch); err != nil {
		return nil, fmt.Errorf("send: %w", err)
	}
	var refused *refusals
	for range commands {
		err := c.answers.Answer(nil)
		if err == nil {
			continue
		}
		var why resp.Error
		if !errors.As(err, &why) {
			return nil, fmt.Errorf("receive: %w", err)
		}
		if refused == nil {
			refused = &refusals{first: why}
		}
		refused.commands++
	}
	return refused, nil
}

// fill creates all elements of the test in the server, in batches.
func (c *redisClient) fill() error {
	const most = 1000
	if len(c.test.fill) == 0 {
		return nil
	}
	for from := 0; from < c.of.Keys; from += most {
		c.batch = c.batch[:0]
		to := min(from+most, c.of.Keys)
		for i := from; i < to; i++ {
			for _, add := range c.test.fill {
				c.batch = add(c.redisCommands, c.batch, i)
			}
		}
		refused, err := c.exchange((to - from) * len(c.test.fill))
		if err != nil {
			return err
		}
		if refused != nil {
			return refused.first
		}
	}
	return nil
}
