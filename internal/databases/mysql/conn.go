package mysql

import (
	"context"
	"errors"
	"net"
	"path/filepath"

	"github.com/go-sql-driver/mysql"

	"github.com/tarelab/tare/internal/databases/db"
)

// Protocol is the client for MySQL's protocol.
func (Service) Protocol() db.Protocol {
	return db.Protocol{Connect: connect, Ready: "SELECT 42", Answer: "42", Definite: definite, Denied: denied}
}

func connect(a db.Address) (db.Conn, error) {
	c := mysql.NewConfig()
	c.User, c.Passwd, c.DBName = a.User, a.Secret, a.Database
	c.Net, c.Addr = "tcp", a.Dial
	c.Timeout = db.ConnectBound
	c.MaxAllowedPacket = 1 << 30  // the server has its own limit
	c.Logger = &mysql.NopLogger{} // the default writes to standard error
	switch {
	case a.Way != nil:
		c.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) { return a.Way.Open(ctx) }
		c.TLS, c.AllowFallbackToPlaintext = a.Way.TLS, a.Way.Fallback
	case a.Dial == "":
		c.Net, c.Addr = "unix", filepath.Join(a.Dir, db.SocketFile)
		c.DialFunc = db.DialSocket
	}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, err
	}
	first := ""
	if a.Dir != "" && !a.Given {
		first = plainMode
	}
	return db.SQL(connector, first), nil
}

// plainMode makes a session of tare's own read its questions as they are written, whatever the server's mode is.
// No function of a user's has precedence over one of the server's.
const plainMode = "SET SESSION sql_mode = ''"

// definite is true for all errors of the server but those of one that is starting, shutting down or
// out of connections.
func definite(err error) bool {
	const tooManyConnections, shutdown, notReady = 1040, 1053, 3168
	var answer *mysql.MySQLError
	return errors.As(err, &answer) && answer.Number != tooManyConnections && answer.Number != shutdown && answer.Number != notReady
}

func denied(err error) bool {
	const accessDenied = 1045
	var answer *mysql.MySQLError
	return errors.As(err, &answer) && answer.Number == accessDenied
}
