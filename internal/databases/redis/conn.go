package redis

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"strings"

	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/databases/redis/resp"
)

// Dial connects to Redis or Valkey and authenticates.
func Dial(ctx context.Context, a db.Address) (net.Conn, error) {
	conn, err := dial(ctx, a)
	if err != nil {
		return nil, err
	}
	deadline, _ := ctx.Deadline() // zero if there is none, which sets none
	if err = conn.SetDeadline(deadline); err == nil {
		_, err = conn.Write(resp.Command(nil, "AUTH", a.User, a.Secret))
	}
	if err == nil {
		first := resp.NewReader(conn)
		if err = first.Answer(nil); err == nil && first.Buffered() {
			err = errUnasked // the reader of the next answers would begin in the middle of one
		}
	}
	if err != nil {
		return nil, errors.Join(db.ClosedEarly(err), conn.Close())
	}
	return conn, nil
}

// errUnasked and errPairs are about a server that does not keep to Redis' protocol.
var (
	errUnasked = errors.New("the server sends more than it was asked")
	errPairs   = errors.New("the server's answer to CONFIG GET is not names with values")
)

func dial(ctx context.Context, a db.Address) (net.Conn, error) {
	switch {
	case a.Way != nil:
		return a.Way.Connect(ctx)
	case a.Dial == "":
		return db.DialSocket(ctx, "unix", filepath.Join(a.Dir, db.SocketFile))
	}
	d := net.Dialer{Timeout: db.ConnectBound, KeepAlive: -1}
	return d.DialContext(ctx, "tcp", a.Dial)
}

// link is a connection for questions.
type link struct {
	net.Conn
	answers *resp.Reader
	broken  bool
}

// Protocol is the client for Redis' protocol. A server that still loads its data answers ECHO and
// PING, but not EXISTS.
func (Service) Protocol() db.Protocol {
	return db.Protocol{Connect: connect, Ready: "EXISTS tare", Answer: "0", Definite: definite, Denied: denied}
}

func connect(a db.Address) (db.Conn, error) {
	return db.Redial(func(ctx context.Context) (db.Link, error) {
		conn, err := Dial(ctx, a)
		if err != nil {
			return nil, err
		}
		return &link{Conn: conn, answers: resp.NewReader(conn)}, nil
	}), nil
}

// Broken is true if the connection takes no more commands.
func (l *link) Broken() bool { return l.broken }

// Ask sends a command of words with spaces between; each part of the answer is a row. Two answers are
// reduced to the value, so that settings are read as from other servers: that of CONFIG GET NAME to
// the value without the name, and that of INFO SECTION FIELD to the value of the field.
func (l *link) Ask(query string) (rows [][]string, err error) {
	words, field := strings.Fields(query), ""
	if len(words) == 3 && words[0] == "INFO" {
		field, words = words[2]+":", words[:2]
	}
	_, err = l.Write(resp.Command(nil, words...))
	if err == nil {
		err = l.answers.Answer(func(text []byte) {
			rows = append(rows, []string{string(text)})
		})
	}
	var refused resp.Error
	switch {
	case err != nil:
		l.broken = !errors.As(err, &refused)
		return nil, db.ClosedEarly(err)
	case field != "" && len(rows) == 1:
		return line(rows[0][0], field), nil
	case strings.HasPrefix(query, "CONFIG GET ") && len(rows)%2 != 0:
		return nil, errPairs
	case strings.HasPrefix(query, "CONFIG GET ") && len(rows) > 0:
		return rows[1:], nil
	}
	return rows, nil
}

// line is the value of a field of INFO.
func line(text, field string) [][]string {
	for l := range strings.Lines(text) {
		if value, found := strings.CutPrefix(l, field); found {
			return [][]string{{strings.TrimSpace(value)}}
		}
	}
	return nil
}

// definite is true for all errors of the server but those of one that loads its data or is out of
// connections.
func definite(err error) bool {
	var answer resp.Error
	return errors.As(err, &answer) && !strings.HasPrefix(string(answer), "LOADING") && !strings.Contains(string(answer), "max number of clients")
}

// denied is true for an unknown user or a wrong password.
func denied(err error) bool {
	var answer resp.Error
	return errors.As(err, &answer) && (strings.HasPrefix(string(answer), "WRONGPASS") || strings.HasPrefix(string(answer), "NOAUTH"))
}
