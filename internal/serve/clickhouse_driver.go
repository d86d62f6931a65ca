package serve

import (
	"bytes"
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"strings"
	"time"
)

// What database/sql needs to know of ClickHouse: text in, lines of text out.

// clickhouseConnector makes connections; see ClickHouse.
type clickhouseConnector struct{ Address }

func connectClickHouse(a Address) (driver.Connector, error) {
	return clickhouseConnector{a}, clickhouseAddress(a)
}

// Connect connects.
func (c clickhouseConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := DialClickHouse(ctx, c.Address)
	if err != nil {
		return nil, err
	}
	return clickhouseConn{conn}, nil
}

// Driver is of no use.
func (c clickhouseConnector) Driver() driver.Driver { return nil }

type clickhouseConn struct{ *ClickHouse }

var (
	_ driver.QueryerContext = clickhouseConn{}
	_ driver.ExecerContext  = clickhouseConn{}
	_ driver.Validator      = clickhouseConn{}
)

var errNoSuchThing = errors.New("ClickHouse has no transactions and prepares no statements")

// Prepare and Begin are not there.
func (clickhouseConn) Prepare(string) (driver.Stmt, error) { return nil, errNoSuchThing }
func (clickhouseConn) Begin() (driver.Tx, error)           { return nil, errNoSuchThing }

// IsValid says whether it takes another query.
func (c clickhouseConn) IsValid() bool { return !c.broken }

// within asks a query that may not take longer than the context.
func (c clickhouseConn) within(ctx context.Context, query string) ([]byte, error) {
	deadline, _ := ctx.Deadline() // none: zero, which is none
	if err := c.conn.SetDeadline(deadline); err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = c.conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	var out bytes.Buffer
	if err := c.ask(query, formatLines, &out); err != nil {
		return nil, errors.Join(ctx.Err(), err)
	}
	return out.Bytes(), nil
}

// QueryContext returns the rows of a query.
func (c clickhouseConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if len(args) > 0 {
		return nil, errNoSuchThing
	}
	text, err := c.within(ctx, query)
	if err != nil {
		return nil, err
	}
	rows := &clickhouseRows{}
	for line := range strings.Lines(string(text)) {
		rows.lines = append(rows.lines, strings.TrimSuffix(line, "\n"))
	}
	rows.columns = 1
	if len(rows.lines) > 0 {
		rows.columns += strings.Count(rows.lines[0], "\t")
	}
	return rows, nil
}

// ExecContext runs a statement.
func (c clickhouseConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if len(args) > 0 {
		return nil, errNoSuchThing
	}
	_, err := c.within(ctx, query)
	return driver.ResultNoRows, err
}

// clickhouseRows are lines of columns between tabs.
type clickhouseRows struct {
	lines   []string
	columns int
}

// Columns have no names: nobody asks.
func (r *clickhouseRows) Columns() []string { return make([]string, r.columns) }

// Close has nothing to do.
func (r *clickhouseRows) Close() error { return nil }

var unescape = strings.NewReplacer(`\\`, `\`, `\t`, "\t", `\n`, "\n", `\'`, "'", `\b`, "\b", `\f`, "\f", `\r`, "\r", `\0`, "\x00")

// Next reads a line.
func (r *clickhouseRows) Next(into []driver.Value) error {
	if len(r.lines) == 0 {
		return io.EOF
	}
	fields := strings.Split(r.lines[0], "\t")
	if r.lines = r.lines[1:]; len(fields) != len(into) {
		return errors.New("a row of the answer has another number of columns")
	}
	for i, f := range fields {
		if into[i] = nil; f != `\N` {
			into[i] = unescape.Replace(f)
		}
	}
	return nil
}
