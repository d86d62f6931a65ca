package serve

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/lib/pq"

	"github.com/tarelab/tare/internal/service"
)

// noPassfile is a file that never is: an empty name would stand for the user's, and
// one that is there is judged by its mode.
const noPassfile = "/proc/self/fd/no-pgpass"

// connectPostgres says how PostgreSQL is reached: by its socket, or by TCP
// without encryption, as the load does it. The environment has no say.
func connectPostgres(a Address) (driver.Connector, error) {
	c := pq.Config{
		User: a.User, Password: a.Secret, Database: cmp.Or(a.Database, "postgres"), // which is always there
		Host: "socket", Port: 1, // the dialer knows
		SSLMode: pq.SSLModeDisable, Passfile: noPassfile,
		ApplicationName: "tare", ConnectTimeout: connectBound,
	}
	if a.Dial != "" {
		host, port, err := splitAddress(a.Dial)
		if err != nil {
			return nil, err
		}
		c.Host, c.Port = host, uint16(port)
	}
	connector, err := pq.NewConnectorConfig(c)
	if err == nil && a.Dial == "" {
		connector.Dialer(socketDialer(a.Dir))
	}
	return connector, err
}

// socketDialer connects to the server of the data set in a directory, whatever
// address it is given.
type socketDialer string

var _ pq.DialerContext = socketDialer("")

func (dir socketDialer) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	socket, err := postgresSocket(string(dir))
	if err != nil {
		return nil, err
	}
	return dialSocket(ctx, "unix", socket)
}

func (dir socketDialer) Dial(_, _ string) (net.Conn, error) {
	return dir.DialContext(context.Background(), "", "")
}

func (dir socketDialer) DialTimeout(_, _ string, limit time.Duration) (net.Conn, error) {
	ctx, stop := context.WithTimeout(context.Background(), limit)
	defer stop()
	return dir.DialContext(ctx, "", "")
}

// definitePostgres: everything that the server says but that it is starting,
// ending, or has no connection to spare.
func definitePostgres(err error) bool {
	var answer *pq.Error
	return errors.As(err, &answer) && !strings.HasPrefix(string(answer.Code), "57P") && answer.Code != "53300"
}

// deniedByPostgres: the class of failed authorisations.
func deniedByPostgres(err error) bool {
	var answer *pq.Error
	return errors.As(err, &answer) && strings.HasPrefix(string(answer.Code), "28")
}

// postgresSocket is the socket of the server in a directory: its name ends with
// the port.
func postgresSocket(dir string) (string, error) {
	pattern := filepath.Join(dir, service.PostgresSocketDir, ".s.PGSQL.*")
	paths, err := filepath.Glob(pattern)
	for _, p := range paths {
		if !strings.HasSuffix(p, ".lock") {
			return p, nil
		}
	}
	return "", errors.Join(err, fmt.Errorf("%s: %w", pattern, os.ErrNotExist))
}

// splitAddress splits "host:port".
func splitAddress(address string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(address)
	if err == nil {
		var n uint64
		n, err = strconv.ParseUint(text, 10, 16)
		port = int(n)
	}
	if err != nil {
		return "", 0, fmt.Errorf("address of the server: %w", err)
	}
	return host, port, nil
}
