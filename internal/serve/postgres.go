package serve

import (
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

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/tarelab/tare/internal/service"
)

// connectPostgres says how PostgreSQL is reached: by its socket, or by TCP
// without encryption, as the load does it. The environment has no say.
func connectPostgres(a Address) (driver.Connector, error) {
	c, err := pgx.ParseConfig("host=/ port=1 user=x database=x sslmode=disable passfile=/dev/null servicefile=/dev/null")
	if err != nil {
		return nil, err
	}
	c.User, c.Password, c.Database = a.User, a.Secret, a.Database
	if c.Database == "" {
		c.Database = "postgres" // is always there
	}
	c.RuntimeParams = map[string]string{"application_name": "tare"}
	c.Fallbacks, c.ValidateConnect = nil, nil
	c.ConnectTimeout = 10 * time.Second
	c.Host, c.Port = "/", 1 // the dialer knows
	c.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) {
		socket, err := postgresSocket(a.Dir)
		if err != nil {
			return nil, err
		}
		return dialSocket(ctx, "unix", socket)
	}
	if a.Dial != "" {
		host, port, err := splitAddress(a.Dial)
		if err != nil {
			return nil, err
		}
		c.Host, c.Port = host, uint16(port)
		c.DialFunc = (&net.Dialer{}).DialContext
	}
	return stdlib.GetConnector(*c), nil
}

// definitePostgres: everything that the server says but that it is starting,
// ending, or has no connection to spare.
func definitePostgres(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && !strings.HasPrefix(answer.Code, "57P") && answer.Code != "53300"
}

// deniedByPostgres: the class of failed authorisations.
func deniedByPostgres(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && strings.HasPrefix(answer.Code, "28")
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
