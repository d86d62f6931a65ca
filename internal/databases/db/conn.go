package db

import (
	"context"
	"crypto/tls"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// Address is where a server answers.
type Address struct {
	// Protocol is the name of the server's protocol; empty: "mysql".
	Protocol string
	// Dir is the directory of the data set. Dial is "host:port"; if it is empty, the socket in Dir
	// is used.
	Dir, Dial string
	User      string
	Secret    string
	Database  string
	// Given is true for a session that runs a user's statements with the settings that server and database give
	// it. Other sessions ask tare's own questions: no name in these may mean what a user's SQL has defined.
	Given bool
	// Way is how a server that is not tare's is reached; nil: by Dial or by the socket in Dir, without TLS.
	Way *Way
}

// Way is how a server that is not tare's is reached.
type Way struct {
	// Open makes a connection.
	Open func(context.Context) (net.Conn, error)
	// TLS is the client's part of it; nil: none. With Fallback a server without TLS is asked in clear.
	TLS      *tls.Config
	Fallback bool
}

// Connect makes a connection of a protocol that begins with TLS.
func (w *Way) Connect(ctx context.Context) (net.Conn, error) {
	c, err := w.Open(ctx)
	if err != nil {
		return nil, err
	}
	return w.Encrypt(ctx, c)
}

// Encrypt begins TLS on a connection at once; without TLS it returns the connection.
func (w *Way) Encrypt(ctx context.Context, c net.Conn) (net.Conn, error) {
	if w.TLS == nil {
		return c, nil
	}
	secure := tls.Client(c, w.TLS)
	if err := secure.HandshakeContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("TLS: %w", ClosedEarly(err)), c.Close())
	}
	return secure, nil
}

// Protocol is a way to ask servers: a client for one wire protocol.
type Protocol struct {
	// Connect returns a Conn, which connects at the first question.
	Connect func(Address) (Conn, error)
	// Ready is a question to which a server replies Answer once it is ready, and not while it still
	// loads its data.
	Ready, Answer string
	// Definite is true for an error that asking again does not change; Denied is true if it is
	// about user or password.
	Definite, Denied func(error) bool
}

// Conn sends questions in the server's language, for one goroutine at a time. After a failure the
// next question makes a new connection.
type Conn interface {
	// Ask returns the rows of the answer; NULL is "".
	Ask(ctx context.Context, question string) ([][]string, error)
	Close() error
}

// Copier is a Conn that loads rows of a dump after a statement COPY ... FROM stdin: those that next returns,
// until ok is false. The error about a row is a RowError.
type Copier interface {
	Copy(ctx context.Context, statement string, next func() (row string, ok bool, err error)) error
}

// RowError is the server's error about a row, which counts from 1.
type RowError struct {
	Row int
	Err error
}

func (e *RowError) Error() string { return e.Err.Error() }

func (e *RowError) Unwrap() error { return e.Err }

// ConnectBound bounds the time to connect.
const ConnectBound = 10 * time.Second

// SQL is a Conn of a database/sql driver. first runs at the begin of each connection; "": nothing.
func SQL(c driver.Connector, first string) SQLConn {
	db := sql.OpenDB(beginning{c, first})
	db.SetMaxOpenConns(1)
	return SQLConn{db}
}

// beginning is a Connector whose connections begin with statements.
type beginning struct {
	driver.Connector
	first string
}

// Connect connects and runs the first statements.
func (b beginning) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := b.Connector.Connect(ctx)
	if err != nil || b.first == "" {
		return c, err
	}
	e, ok := c.(driver.ExecerContext)
	if !ok {
		return nil, errors.Join(fmt.Errorf("the driver's connection is a %T", c), c.Close())
	}
	if _, err := e.ExecContext(ctx, b.first, nil); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// SQLConn is a Conn of one connection of a database/sql driver.
type SQLConn struct{ *sql.DB }

// Ask returns the rows of the answer.
func (c SQLConn) Ask(ctx context.Context, question string) (all [][]string, err error) {
	rows, err := c.QueryContext(ctx, question)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	values, into := make([]sql.NullString, len(names)), make([]any, len(names))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		row := make([]string, len(values))
		for i, v := range values {
			row[i] = v.String
		}
		all = append(all, row)
	}
	return all, rows.Err()
}

// Link is an open connection.
type Link interface {
	Ask(question string) ([][]string, error)
	SetDeadline(time.Time) error
	// Broken is true if the connection takes no more questions.
	Broken() bool
	Close() error
}

// Redial is a Conn over a Link; when the link is broken, dial makes another one.
func Redial(dial func(context.Context) (Link, error)) Conn { return &redial{dial: dial} }

type redial struct {
	dial func(context.Context) (Link, error)
	link Link // nil: none
}

func (r *redial) Ask(ctx context.Context, question string) (rows [][]string, err error) {
	if r.link != nil && r.link.Broken() {
		_ = r.Close()
	}
	if r.link == nil {
		if r.link, err = r.dial(ctx); err != nil {
			r.link = nil
			return nil, err
		}
	}
	deadline, _ := ctx.Deadline() // zero if there is none, which sets none
	if err := r.link.SetDeadline(deadline); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	link := r.link
	stop := context.AfterFunc(ctx, func() { _ = link.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if rows, err = link.Ask(question); err != nil {
		return nil, errors.Join(ctx.Err(), err)
	}
	return rows, nil
}

func (r *redial) Close() error {
	if r.link == nil {
		return nil
	}
	err := r.link.Close()
	r.link = nil
	return err
}

// ClosedEarly replaces io.EOF and io.ErrUnexpectedEOF by a text for people.
func ClosedEarly(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return errors.New("the server closed the connection")
	}
	return err
}
