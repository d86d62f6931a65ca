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

// noPassfile is a file that never is: an empty name would stand for the user's, and
// one that is there is judged by its mode.
const noPassfile = "/proc/self/fd/no-pgpass"

// Protocol says how a server is asked.
func (Service) Protocol() db.Protocol {
	return db.Protocol{Connect: connect, Ready: "SELECT 42", Answer: "42", Definite: definite, Denied: denied}
}

// connect says how PostgreSQL is reached: by its socket, or by TCP
// without encryption, as the load does it. The environment has no say.
func connect(a db.Address) (db.Conn, error) {
	c := pq.Config{
		User: a.User, Password: a.Secret, Database: cmp.Or(a.Database, "postgres"), // which is always there
		Host: "socket", Port: 1, // the dialer knows
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
	return db.SQL(connector), nil
}

// socketDialer connects to the server of the data set in a directory, whatever
// address it is given.
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

// definite: everything that the server says but that it is starting,
// ending, or has no connection to spare.
func definite(err error) bool {
	var answer *pq.Error
	return errors.As(err, &answer) && !strings.HasPrefix(string(answer.Code), "57P") && answer.Code != "53300"
}

// denied: the class of failed authorisations.
func denied(err error) bool {
	var answer *pq.Error
	return errors.As(err, &answer) && strings.HasPrefix(string(answer.Code), "28")
}

// socket is the socket of the server in a directory: its name ends with
// the port.
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
