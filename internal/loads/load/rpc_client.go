package load

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/wire/counter"
	"github.com/tarelab/tare/internal/wire/hidden"
)

// RPC are the parameters of the client of rpc.
type RPC struct {
	Dial          string `json:"dial"` // host:port
	RequestBytes  int    `json:"request_bytes"`
	ResponseBytes int    `json:"response_bytes"`
	// Rate is the arrivals per second of an open loop; 0 is a closed loop.
	Rate float64 `json:"rate,omitempty"`
	// Batch is how many of them come at the same time; 0 means 1.
	Batch int `json:"batch,omitempty"`
}

const (
	// dialTimeout is how long the client tries to make the first connection, Redial the pause
	// between tries.
	dialTimeout = 3 * time.Second
	Redial      = 20 * time.Millisecond
	// WarmCalls is the number of uncounted requests on each connection: enough for the congestion
	// window to open.
	WarmCalls = 50
	// lateBy is the delay in ns above which a request of an open loop counts as late.
	lateBy = int64(time.Millisecond)
)

// client is one connection with its thread and slot.
type client struct {
	m        *counter.Memory
	slot     *counter.Slot
	p        RPC
	arrivals *arrivals // shared by all clients; nil in a closed loop

	mu       sync.Mutex // guards link against hangUp
	link     *Link      // nil when not connected
	seq      uint64
	request  []byte
	response []byte
}

func runRPC(ctx context.Context, m *counter.Memory, params []byte) error {
	var p RPC
	if err := hidden.Decode(params, &p); err != nil {
		return err
	}
	DisableGC()
	RaiseMaxProcs(m.Threads())
	clients, err := p.connect(ctx, m)
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() {
		m.Stop() // first, so that broken connections do not count as errors
		for _, c := range clients {
			c.hangUp()
		}
	})
	m.SetReady()
	return Each(ctx, m, func(i int) error {
		runtime.LockOSThread()
		clients[i].run()
		return nil
	})
}

// connect opens all connections and warms them up. It retries for dialTimeout: the server may not
// listen yet.
func (p RPC) connect(ctx context.Context, m *counter.Memory) ([]*client, error) {
	var schedule *arrivals
	if p.Rate > 0 {
		schedule = newArrivals(p.Rate, p.Batch)
	}
	clients := make([]*client, m.Threads())
	limit := time.Now().Add(dialTimeout)
	for i := range clients {
		c := &client{m: m, slot: m.Slot(i), p: p, arrivals: schedule,
			request: Noise(p.RequestBytes, uint64(i)), response: make([]byte, p.ResponseBytes)}
		err := c.dial()
		for err != nil && time.Now().Before(limit) && ctx.Err() == nil {
			time.Sleep(Redial)
			err = c.dial()
		}
		for range WarmCalls {
			if err == nil {
				err = c.call()
			}
		}
		if err != nil {
			return nil, fmt.Errorf("connection %d of %d to %s: %w", i+1, len(clients), p.Dial, err)
		}
		clients[i] = c
	}
	return clients, nil
}

func (c *client) dial() error {
	conn, err := net.DialTimeout("tcp", c.p.Dial, dialTimeout)
	if err != nil {
		return err
	}
	l, err := NewLink(conn, true)
	if err != nil {
		return err
	}
	var greet [greetBytes]byte
	binary.LittleEndian.PutUint32(greet[:], rpcMagic)
	binary.LittleEndian.PutUint32(greet[4:], uint32(c.p.RequestBytes))
	binary.LittleEndian.PutUint32(greet[8:], uint32(c.p.ResponseBytes))
	if err := l.WriteFull(greet[:]); err != nil {
		l.close()
		return err
	}
	c.mu.Lock()
	c.link = l
	c.mu.Unlock()
	return nil
}

// hangUp shuts the connection down, which wakes a thread that waits for a response.
func (c *client) hangUp() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link != nil {
		c.link.Shut()
	}
}

func (c *client) run() {
	// Wake for an arrival without timer slack, which is 50 µs by default.
	unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	for !c.m.Stopped() {
		start, ok := c.begin()
		if !ok {
			continue
		}
		err := c.once()
		if c.m.Stopped() {
			c.slot.Idle() // hangUp broke the connection
			return
		}
		c.m.End(c.slot, start, err)
		if err != nil {
			time.Sleep(Redial)
		}
	}
}

// begin waits for the next operation and returns its intended start, in CLOCK_MONOTONIC ns: in an
// open loop the arrival, so that the latency includes the wait for a free client.
func (c *client) begin() (start int64, ok bool) {
	if c.arrivals == nil {
		return c.m.Begin(c.slot), true
	}
	c.m.Gate()
	thaw := c.m.Thawed()
	at, waiting := c.arrivals.take(c.m.Now(), thaw, c.m.Seed())
	c.m.Slot(0).SetBacklog(waiting)
	if !c.awaitArrival(at, thaw) {
		return 0, false
	}
	now := c.m.Begin(c.slot)
	if c.m.Thawed() != thaw {
		c.slot.Idle()
		return 0, false
	}
	if now-at > lateBy {
		c.slot.Late()
	}
	return at, true
}

// awaitArrival sleeps until the arrival at. It returns false after a pause, because each thaw begins a
// new schedule of arrivals.
func (c *client) awaitArrival(at, thaw int64) bool {
	const look = int64(10 * time.Millisecond) // longest sleep, so that a pause is noticed
	for {
		now := c.m.Now()
		if c.m.Thawed() != thaw || c.m.Stopped() || c.m.Paused() {
			return false
		}
		if now >= at {
			return true
		}
		until := unix.NsecToTimespec(min(at, now+look))
		// A signal or a thaw can end the sleep early.
		unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &until, nil)
	}
}

// once does one request. It makes a new connection if the last one broke.
func (c *client) once() error {
	if c.link == nil {
		if err := c.dial(); err != nil {
			return err
		}
	}
	err := c.call()
	if err != nil {
		c.mu.Lock()
		c.link.close()
		c.link = nil
		c.mu.Unlock()
	}
	return err
}

var errAnswer = errors.New("the response belongs to another request")

func (c *client) call() error {
	c.seq++
	binary.LittleEndian.PutUint64(c.request, c.seq)
	if err := c.link.WriteFull(c.request); err != nil {
		return fmt.Errorf("send: %w", err)
	}
	if err := c.link.readFull(c.response); err != nil {
		return fmt.Errorf("receive: %w", err)
	}
	if binary.LittleEndian.Uint64(c.response) != c.seq {
		return errAnswer
	}
	return nil
}
