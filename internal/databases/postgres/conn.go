package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
		Host: "socket", Port: 1, // ignored by socketDialer
		SSLMode: pq.SSLModeDisable, Passfile: noPassfile,
		ApplicationName: "tare", ConnectTimeout: db.ConnectBound,
	}
	if a.Dial != "" {
		host, port, err := db.SplitAddress(a.Dial)
		if err != nil {
			return nil, err
		}
		c.Host, c.Port = host, uint16(port)
	}
	connector, err := pq.NewConnectorConfig(c)
	if err != nil {
		return nil, err
	}
	if a.Dial == "" {
		connector.Dialer(socketDialer(a.Dir))
	}
	return conn{db.SQL(connector)}, nil
}

// socketDialer connects to the socket of the data set in a directory and ignores the address.
type socketDialer string

var _ pq.DialerContext = socketDialer("")

func (dir socketDialer) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	socket, err := socket(string(dir))
	if err != nil {
		return nil, err
	}
	return db.DialSocket(ctx, "unix", socket)
}

func (dir socketDialer) Dial(_, _ string) (net.Conn, error) {
	return dir.DialContext(context.Background(), "", "")
}

func (dir socketDialer) DialTimeout(_, _ string, limit time.Duration) (net.Conn, error) {
	ctx, stop := context.WithTimeout(context.Background(), limit)
	defer stop()
	return dir.DialContext(ctx, "", "")
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
