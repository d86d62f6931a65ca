package foreign

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/tarelab/tare/internal/databases/db"
)

// Bounds of all answers of a server together.
const (
	maxBytes = 16 << 20
	maxTime  = 20 * time.Second
)

var (
	errBytes = fmt.Errorf("the server sent more than %d MiB", maxBytes>>20)
	errTime  = fmt.Errorf("the server had not answered all questions after %v", maxTime)
)

// budget bounds what all connections to a server read. The zero value is not usable.
type budget struct {
	left     atomic.Int64 // bytes
	deadline time.Time
	failed   atomic.Pointer[error] // the bound that was reached: drivers replace errors of connections by their own
}

func newBudget(bytes int64, limit time.Duration) *budget {
	b := &budget{deadline: time.Now().Add(limit)}
	b.left.Store(bytes)
	return b
}

// dial opens a connection that counts.
func (b *budget) dial(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, stop := context.WithDeadline(ctx, b.deadline)
	defer stop()
	var c net.Conn
	var err error
	if network == "unix" {
		c, err = db.DialSocket(ctx, network, address)
	} else {
		d := net.Dialer{Timeout: db.ConnectBound}
		c, err = d.DialContext(ctx, network, address)
	}
	if err != nil {
		return nil, err
	}
	return &counted{c, b}, c.SetDeadline(b.deadline)
}

// reached is the bound that ended the connection, or err.
func (b *budget) reached(err error) error {
	if bound := b.failed.Load(); bound != nil {
		return *bound
	}
	return err
}

// counted is a connection that takes the bytes it reads out of a budget.
type counted struct {
	net.Conn
	budget *budget
}

// Read reads no byte beyond the budget.
func (c *counted) Read(p []byte) (int, error) {
	left := c.budget.left.Load()
	if left <= 0 {
		c.budget.failed.CompareAndSwap(nil, &errBytes)
		return 0, errBytes
	}
	n, err := c.Conn.Read(p[:min(int64(len(p)), left)])
	c.budget.left.Add(-int64(n))
	c.note(err)
	return n, err
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.note(err)
	return n, err
}

// note keeps that the deadline of the budget was reached.
func (c *counted) note(err error) {
	if errors.Is(err, os.ErrDeadlineExceeded) && !time.Now().Before(c.budget.deadline) {
		c.budget.failed.CompareAndSwap(nil, &errTime)
	}
}

// SetDeadline sets a deadline that is not after the budget's; drivers remove deadlines.
func (c *counted) SetDeadline(t time.Time) error { return c.Conn.SetDeadline(c.earlier(t)) }

// SetReadDeadline is as SetDeadline.
func (c *counted) SetReadDeadline(t time.Time) error { return c.Conn.SetReadDeadline(c.earlier(t)) }

// SetWriteDeadline is as SetDeadline.
func (c *counted) SetWriteDeadline(t time.Time) error { return c.Conn.SetWriteDeadline(c.earlier(t)) }

func (c *counted) earlier(t time.Time) time.Time {
	if t.IsZero() || t.After(c.budget.deadline) {
		return c.budget.deadline
	}
	return t
}

// line opens connections to one address.
type line struct {
	budget           *budget
	network, address string
	first            net.Conn // is opened already; nil: was handed out
}

func (l *line) open(ctx context.Context) (net.Conn, error) {
	if c := l.first; c != nil {
		l.first = nil
		return c, nil
	}
	return l.budget.dial(ctx, l.network, l.address)
}
