package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/databases"
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/databases/mysql"
	"github.com/tarelab/tare/record"
)

// Client asks a server over one connection, for one goroutine at a time.
type Client struct {
	conn db.Conn
	db.Protocol
}

// Connect returns a client, which connects at the first question.
func Connect(a db.Address) (*Client, error) {
	p, err := databases.Protocol(cmp.Or(a.Protocol, mysql.Family))
	if err != nil {
		return nil, err
	}
	conn, err := p.Connect(a)
	if err != nil {
		return nil, fmt.Errorf("connect to the server: %w", err)
	}
	return &Client{conn, p}, nil
}

// Close ends the connection.
func (c *Client) Close() error { return c.conn.Close() }

const (
	readyPoll = 10 * time.Millisecond
	// readyAsk bounds one question: a starting server may accept a connection and not answer.
	readyAsk = 5 * time.Second
)

// Await returns when the server answers a query, or after limit. alive is an error once the server has
// ended.
func (c *Client) Await(ctx context.Context, limit time.Duration, alive func() error) error {
	deadline := time.Now().Add(limit)
	for {
		ask, stop := context.WithTimeout(ctx, readyAsk)
		got, err := c.Value(ask, c.Ready)
		stop()
		if err == nil && got == c.Answer {
			return nil
		}
		if dead := alive(); dead != nil {
			return dead
		}
		switch {
		case c.Definite(err):
			return c.refused(err)
		case ctx.Err() != nil:
			return ctx.Err()
		case time.Now().After(deadline):
			return fmt.Errorf("the server answered no query within %v: %w", limit, err)
		}
		time.Sleep(readyPoll)
	}
}

func (c *Client) refused(err error) error {
	if c.Denied(err) {
		return hint.New(fmt.Errorf("the server refuses the user and password of the data set: %w", err),
			"the password is in the data set; prepare it again (tare cache prune removes the old one)")
	}
	return fmt.Errorf("the server answers, but: %w", err)
}

// Exec runs a statement and discards its results.
func (c *Client) Exec(ctx context.Context, statement string) error {
	_, err := c.conn.Ask(ctx, statement)
	return err
}

// errNoRow means an answer without a value.
var errNoRow = errors.New("the server's answer is empty")

// Value returns the last value of the first row of an answer. NULL is ""; no row is an error.
func (c *Client) Value(ctx context.Context, question string) (string, error) {
	rows, err := c.conn.Ask(ctx, question)
	if err != nil {
		return "", err
	}
	if len(rows) == 0 || len(rows[0]) == 0 {
		return "", errNoRow
	}
	return rows[0][len(rows[0])-1], nil
}

// ExecEach runs the statements that a question returns; an empty question returns none.
func (c *Client) ExecEach(ctx context.Context, question string) error {
	if question == "" {
		return nil
	}
	rows, err := c.conn.Ask(ctx, question)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if err := c.Exec(ctx, row[0]); err != nil {
			return fmt.Errorf("%s: %w", row[0], err)
		}
	}
	return nil
}

// ReadBack reads the settings. It is an error if one has not the value that was asked for. A setting
// without such a value is skipped if this version lacks it.
func (c *Client) ReadBack(ctx context.Context, queries []db.Query) ([]record.Setting, error) {
	var out []record.Setting
	var wrong []string
	for _, q := range queries {
		got, err := c.Value(ctx, q.Ask)
		if err != nil && q.Wanted == "" {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read %s back: %w", q.Name, err)
		}
		out = append(out, record.Setting{Name: q.Name, Wanted: q.Wanted, Got: got})
		if q.Accepts != nil && !q.Accepts(got) {
			wrong = append(wrong, fmt.Sprintf("%s is %q instead of %q", q.Name, got, q.Wanted))
		}
	}
	if len(wrong) > 0 {
		return out, errors.New("a setting of the server did not take: " + strings.Join(wrong, "; "))
	}
	return out, nil
}
