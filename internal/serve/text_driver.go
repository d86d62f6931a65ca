package serve

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"time"
)

// What database/sql needs to know of a server that has no driver of its own here,
// or that is asked in no SQL: text in, rows of text out.

// textLink is a connection, for one goroutine at a time.
type textLink interface {
	// rows asks a query; all rows have as many columns.
	rows(query string) ([][]driver.Value, error)
	SetDeadline(time.Time) error
	// Broken says that it takes no more queries.
	Broken() bool
	Close() error
}

// textConnector makes connections.
type textConnector func(context.Context) (textLink, error)

// Connect connects.
func (c textConnector) Connect(ctx context.Context) (driver.Conn, error) {
	link, err := c(ctx)
	if err != nil {
		return nil, err
	}
	return textConn{link}, nil
}

// Driver is of no use.
func (c textConnector) Driver() driver.Driver { return nil }

type textConn struct{ textLink }

var (
	_ driver.QueryerContext = textConn{}
	_ driver.ExecerContext  = textConn{}
	_ driver.Validator      = textConn{}
)

var errNoSuchThing = errors.New("this server is asked without transactions and prepared statements")

// Prepare and Begin are not there.
func (textConn) Prepare(string) (driver.Stmt, error) { return nil, errNoSuchThing }
func (textConn) Begin() (driver.Tx, error)           { return nil, errNoSuchThing }

// IsValid says whether it takes another query.
func (c textConn) IsValid() bool { return !c.Broken() }

// QueryContext returns the rows of a query, which may not take longer than the
// context.
func (c textConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if len(args) > 0 {
		return nil, errNoSuchThing
	}
	deadline, _ := ctx.Deadline() // none: zero, which is none
	if err := c.SetDeadline(deadline); err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	rows, err := c.rows(query)
	if err != nil {
		return nil, errors.Join(ctx.Err(), err)
	}
	all := &textRows{rows: rows, columns: 1}
	if len(rows) > 0 {
		all.columns = len(rows[0])
	}
	return all, nil
}

// ExecContext runs a statement.
func (c textConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	_, err := c.QueryContext(ctx, query, args)
	return driver.ResultNoRows, err
}

type textRows struct {
	rows    [][]driver.Value
	columns int
}

// Columns have no names: nobody asks.
func (r *textRows) Columns() []string { return make([]string, r.columns) }

// Close has nothing to do.
func (r *textRows) Close() error { return nil }

// Next hands out a row.
func (r *textRows) Next(into []driver.Value) error {
	if len(r.rows) == 0 {
		return io.EOF
	}
	row := r.rows[0]
	if r.rows = r.rows[1:]; len(row) != len(into) {
		return errors.New("a row of the answer has another number of columns")
	}
	copy(into, row)
	return nil
}
