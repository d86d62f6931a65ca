package serve

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/hint"
	"github.com/tarelab/tare/internal/service"
	"github.com/tarelab/tare/record"
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

// protocol is how servers of one protocol are asked.
type protocol struct {
	connect func(Address) (driver.Connector, error)
	// ready is a query that a server which is ready answers with 42.
	ready string
	// definite says that an error is the server's answer, and asking again of no use;
	// denied that it is about user and password.
	definite, denied func(error) bool
}

// protocols are those of the services, one line each.
func protocols() map[string]protocol {
	return map[string]protocol{
		service.MySQLFamily:    {connectMySQL, "SELECT 42", definiteMySQL, deniedByMySQL},
		service.PostgreSQL:     {connectPostgres, "SELECT 42", definitePostgres, deniedByPostgres},
		service.ClickHouseName: {connectClickHouse, "SELECT 42", definiteClickHouse, deniedByClickHouse},
		service.RedisName:      {connectRedis, "ECHO 42", definiteRedis, deniedByRedis},
	}
}

// Client asks a server. It is one connection, for one goroutine at a time.
type Client struct {
	db *sql.DB
	protocol
}

// Connect prepares a client; the connection is made by the first question.
func Connect(a Address) (*Client, error) {
	p := protocols()[cmp.Or(a.Protocol, service.MySQLFamily)]
	connector, err := p.connect(a)
	if err != nil {
		return nil, fmt.Errorf("connect to the server: %w", err)
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1)
	return &Client{db, p}, nil
}

// connectBound is how long it may take to connect.
const connectBound = 10 * time.Second

func connectMySQL(a Address) (driver.Connector, error) {
	c := mysql.NewConfig()
	c.User, c.Passwd, c.DBName = a.User, a.Secret, a.Database
	c.Net, c.Addr = "tcp", a.Dial
	c.Timeout = connectBound
	c.Logger = &mysql.NopLogger{} // it would write to standard error
	if a.Dial == "" {
		c.Net, c.Addr = "unix", filepath.Join(a.Dir, service.SocketFile)
		c.DialFunc = dialSocket
	}
	return mysql.NewConnector(c)
}

// dialSocket connects to a socket whose path may be longer than the 107 bytes
// that a socket's address holds.
func dialSocket(ctx context.Context, _, path string) (net.Conn, error) {
	fd, err := unix.Open(filepath.Dir(path), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", filepath.Dir(path), err)
	}
	defer unix.Close(fd)
	var d net.Dialer
	return d.DialContext(ctx, "unix", "/proc/self/fd/"+strconv.Itoa(fd)+"/"+filepath.Base(path))
}

// Close ends the connection.
func (c *Client) Close() error { return c.db.Close() }

const (
	readyPoll = 10 * time.Millisecond
	// readyAsk bounds one question: a server that starts may accept and say
	// nothing for a while.
	readyAsk = 5 * time.Second
)

// Await returns when the server answers a query. alive says that the server
// has ended (nil: it has not, or who knows).
func (c *Client) Await(ctx context.Context, limit time.Duration, alive func() error) error {
	deadline := time.Now().Add(limit)
	for {
		ask, stop := context.WithTimeout(ctx, readyAsk)
		got, err := c.Value(ask, c.ready)
		stop()
		if err == nil && got == "42" {
			return nil
		}
		if dead := alive(); dead != nil {
			return dead
		}
		switch {
		case c.definite(err):
			return c.refused(err)
		case ctx.Err() != nil:
			return ctx.Err()
		case time.Now().After(deadline):
			return fmt.Errorf("the server answered no query within %v: %w", limit, err)
		}
		time.Sleep(readyPoll)
	}
}

// definiteMySQL: everything that the server says but that it is starting, ending,
// or has no connection to spare.
func definiteMySQL(err error) bool {
	const tooManyConnections, shutdown, notReady = 1040, 1053, 3168
	var answer *mysql.MySQLError
	return errors.As(err, &answer) && answer.Number != tooManyConnections && answer.Number != shutdown && answer.Number != notReady
}

func deniedByMySQL(err error) bool {
	const accessDenied = 1045
	var answer *mysql.MySQLError
	return errors.As(err, &answer) && answer.Number == accessDenied
}

func (c *Client) refused(err error) error {
	if c.denied(err) {
		return hint.New(fmt.Errorf("the server refuses the user and password of the data set: %w", err),
			"the password is in the data set; prepare it again (tare cache prune removes the old one)")
	}
	return fmt.Errorf("the server answers, but: %w", err)
}

// Exec runs a statement.
func (c *Client) Exec(ctx context.Context, statement string) error {
	_, err := c.db.ExecContext(ctx, statement)
	return err
}

// Value asks for one value; NULL is "".
func (c *Client) Value(ctx context.Context, query string) (string, error) {
	var v sql.NullString
	err := c.db.QueryRowContext(ctx, query).Scan(&v)
	return v.String, err
}

// Status asks a server of the MySQL family for one of its counters.
func (c *Client) Status(ctx context.Context, name string) (uint64, error) {
	var n uint64
	err := c.db.QueryRowContext(ctx, "SHOW GLOBAL STATUS LIKE '"+name+"'").Scan(&name, &n)
	if err != nil {
		return 0, fmt.Errorf("read the server's counter %s: %w", name, err)
	}
	return n, nil
}

// Column asks for one column.
func (c *Client) Column(ctx context.Context, query string) ([]string, error) {
	rows, err := c.db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}

// ExecEach runs the statements that a query gives; no query gives none. Their
// results are read and thrown away.
func (c *Client) ExecEach(ctx context.Context, query string) error {
	if query == "" {
		return nil
	}
	statements, err := c.Column(ctx, query)
	if err != nil {
		return err
	}
	for _, s := range statements {
		rows, err := c.db.QueryContext(ctx, s)
		if err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
		for rows.Next() {
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}

// ReadBack asks for the settings. One that did not take is an error; one that
// this version does not have and nobody asked for is left out.
func (c *Client) ReadBack(ctx context.Context, queries []service.Query) ([]record.Setting, error) {
	var out []record.Setting
	var wrong []string
	for _, q := range queries {
		got, err := c.Value(ctx, q.SQL)
		if err != nil && q.Wanted == "" {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read %s back: %w", q.Name, err)
		}
		out = append(out, record.Setting{Name: q.Name, Wanted: q.Wanted, Got: got})
		if q.Took != nil && !q.Took(got) {
			wrong = append(wrong, fmt.Sprintf("%s is %q instead of %q", q.Name, got, q.Wanted))
		}
	}
	if len(wrong) > 0 {
		return out, errors.New("a setting of the server did not take: " + strings.Join(wrong, "; "))
	}
	return out, nil
}
