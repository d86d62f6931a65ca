package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"time"
)

// Address is where a server answers.
type Address struct {
	// Protocol is that of the service; empty: "mysql".
	Protocol string
	// Dir is the directory of its data set, whose socket is taken when there is
	// no Dial ("host:port").
	Dir, Dial string
	User      string
	Secret    string
	Database  string
}

// Protocol is how servers of one protocol are asked.
type Protocol struct {
	// Connect prepares a connection; it is made by the first question.
	Connect func(Address) (Conn, error)
	// Ready is a question that only a server which is ready answers, with Answer: not
	// one that still reads its data.
	Ready, Answer string
	// Definite says that an error is the server's answer, and asking again of no use;
	// Denied that it is about user and password.
	Definite, Denied func(error) bool
}

// Conn asks a server in its own words, for one goroutine at a time. After a
// connection has failed the next question makes another one.
type Conn interface {
	// Ask returns the rows of an answer; what has no value is "".
	Ask(ctx context.Context, question string) ([][]string, error)
	Close() error
}

// ConnectBound is how long it may take to connect.
const ConnectBound = 10 * time.Second

// SQL asks a server by its driver of database/sql.
func SQL(c driver.Connector) Conn {
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(1)
	return sqlConn{db}
}

type sqlConn struct{ *sql.DB }

func (c sqlConn) Ask(ctx context.Context, question string) (all [][]string, err error) {
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

// Link is a connection that has been made.
type Link interface {
	Ask(question string) ([][]string, error)
	SetDeadline(time.Time) error
	// Broken says that it takes no more questions.
	Broken() bool
	Close() error
}

// Redial asks over a link that dial makes, and over another one where that broke.
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
	deadline, _ := ctx.Deadline() // none: zero, which is none
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

// ClosedEarly says in words that a connection ended in the middle of an answer.
func ClosedEarly(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return errors.New("the server closed the connection")
	}
	return err
}
