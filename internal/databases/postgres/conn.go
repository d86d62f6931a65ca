package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/lib/pq"

	"github.com/tarelab/tare/internal/databases/db"
)

// noPassfile is a path that never exists. An empty path would mean the user's file, and an existing
// file would have to have mode 0600.
const noPassfile = "/proc/self/fd/no-pgpass"

// Protocol is the client for PostgreSQL's protocol.
func (Service) Protocol() db.Protocol {
	return db.Protocol{Connect: connect, Ready: "SELECT 42", Answer: "42", Definite: definite, Denied: denied}
}

// connect connects over the socket, or over TCP without encryption as the load does. It reads no
// environment variables.
func connect(a db.Address) (db.Conn, error) {
	c := pq.Config{
		User: a.User, Password: a.Secret, Database: cmp.Or(a.Database, "postgres"), // which is always there
		Host: "socket", Port: 1, // ignored by dialer
		SSLMode: pq.SSLModeDisable, Passfile: noPassfile,
		ApplicationName: "tare", ConnectTimeout: db.ConnectBound,
	}
	if a.Dial != "" && a.Way == nil {
		host, port, err := db.SplitAddress(a.Dial)
		if err != nil {
			return nil, err
		}
		c.Host, c.Port = host, uint16(port)
	}
	if a.Dir != "" && !a.Given {
		c.Runtime = ownSession()
	}
	connector, err := pq.NewConnectorConfig(c)
	if err != nil {
		return nil, err
	}
	switch {
	case a.Way != nil:
		connector.Dialer(dialer(func(ctx context.Context) (net.Conn, error) { return open(ctx, a.Way) }))
	case a.Dial == "":
		connector.Dialer(dialer(func(ctx context.Context) (net.Conn, error) { return dialSocket(ctx, a.Dir) }))
	}
	first := ""
	if a.Dir == "" && !a.Given {
		first = namesHere
	}
	return conn{db.SQL(connector, first)}, nil
}

// ownSession are the settings with which a session of tare's own begins on a server of tare's, before its first
// statement: the names in tare's questions mean PostgreSQL's own functions, operators and types, and settings of
// the database or the user, which a dump can make, hinder none.
func ownSession() map[string]string {
	return map[string]string{
		"search_path": "pg_catalog, pg_temp", "statement_timeout": "0", "lock_timeout": "0", "default_transaction_read_only": "off",
	}
}

// namesHere does so on a user's server, which may be behind a pooler: that refuses such settings, and what lasts
// longer than the transaction would be another client's next.
const namesHere = "BEGIN READ ONLY; SET LOCAL search_path = pg_catalog, pg_temp; SET LOCAL statement_timeout = 0"

// dialer makes connections and ignores the address.
type dialer func(context.Context) (net.Conn, error)

var _ pq.DialerContext = dialer(nil)

func (d dialer) DialContext(ctx context.Context, _, _ string) (net.Conn, error) { return d(ctx) }

func (d dialer) Dial(_, _ string) (net.Conn, error) { return d(context.Background()) }

func (d dialer) DialTimeout(_, _ string, limit time.Duration) (net.Conn, error) {
	ctx, stop := context.WithTimeout(context.Background(), limit)
	defer stop()
	return d(ctx)
}

// dialSocket connects to the socket of the data set in a directory.
func dialSocket(ctx context.Context, dir string) (net.Conn, error) {
	socket, err := socket(dir)
	if err != nil {
		return nil, err
	}
	return db.DialSocket(ctx, "unix", socket)
}

// sslRequest asks a server whether it has TLS: a length, and the code that stands where a version would.
var sslRequest = []byte{0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f}

// errNoTLS means that the server refuses TLS.
var errNoTLS = errors.New("the server has no TLS")

// open connects to a server that is not tare's. The driver sees a connection without TLS: it would read certificates from
// files of the user.
func open(ctx context.Context, w *db.Way) (net.Conn, error) {
	c, err := w.Open(ctx)
	if err != nil || w.TLS == nil {
		return c, err
	}
	if _, err := c.Write(sslRequest); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	answer := make([]byte, 1) // no byte more: it would stand before TLS
	if _, err := io.ReadFull(c, answer); err != nil {
		return nil, errors.Join(db.ClosedEarly(err), c.Close())
	}
	switch {
	case answer[0] == 'S':
		return w.Encrypt(ctx, c)
	case w.Fallback:
		return c, nil
	}
	return nil, errors.Join(errNoTLS, c.Close())
}

// definite is true for all errors of the server but those of one that is starting, shutting down
// (57P...) or out of connections (53300).
func definite(err error) bool {
	var answer *pq.Error
	return errors.As(err, &answer) && !strings.HasPrefix(string(answer.Code), "57P") && answer.Code != "53300"
}

// denied is true for class 28, invalid authorization.
func denied(err error) bool {
	var answer *pq.Error
	return errors.As(err, &answer) && strings.HasPrefix(string(answer.Code), "28")
}

// socket finds the socket of the server in a directory; its name ends with the port.
func socket(dir string) (string, error) {
	pattern := filepath.Join(dir, SocketDir, ".s.PGSQL.*")
	paths, err := filepath.Glob(pattern)
	for _, p := range paths {
		if !strings.HasSuffix(p, ".lock") {
			return p, nil
		}
	}
	return "", errors.Join(err, fmt.Errorf("%s: %w", pattern, os.ErrNotExist))
}
