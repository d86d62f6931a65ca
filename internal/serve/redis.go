package serve

import (
	"context"
	"database/sql/driver"
	"errors"
	"net"
	"path/filepath"
	"strings"

	"github.com/tarelab/tare/internal/resp"
	"github.com/tarelab/tare/internal/service"
)

// DialRedis connects to Redis or Valkey and says who it is.
func DialRedis(ctx context.Context, a Address) (net.Conn, error) {
	conn, err := dialRedis(ctx, a)
	if err != nil {
		return nil, err
	}
	deadline, _ := ctx.Deadline() // none: zero, which is none
	if err = conn.SetDeadline(deadline); err == nil {
		_, err = conn.Write(resp.Command(nil, "AUTH", a.User, a.Secret))
	}
	if err == nil {
		err = resp.NewReader(conn).Answer(nil) // nothing comes behind it that nobody asked for
	}
	if err != nil {
		return nil, errors.Join(closedEarly(err), conn.Close())
	}
	return conn, nil
}

func dialRedis(ctx context.Context, a Address) (net.Conn, error) {
	if a.Dial == "" {
		return dialSocket(ctx, "unix", filepath.Join(a.Dir, service.SocketFile))
	}
	d := net.Dialer{Timeout: connectBound, KeepAlive: -1}
	return d.DialContext(ctx, "tcp", a.Dial)
}

// redisLink is a connection for questions.
type redisLink struct {
	net.Conn
	answers *resp.Reader
	broken  bool
}

func connectRedis(a Address) (driver.Connector, error) {
	return textConnector(func(ctx context.Context) (textLink, error) {
		conn, err := DialRedis(ctx, a)
		if err != nil {
			return nil, err
		}
		return &redisLink{Conn: conn, answers: resp.NewReader(conn)}, nil
	}), nil
}

// Broken says that it takes no more commands.
func (l *redisLink) Broken() bool { return l.broken }

// rows sends a command, words with blanks between; each part of the answer is a
// row. Two answers are cut to the value that was asked for, so that settings are
// read as those of other servers: CONFIG GET NAME has no name in its answer, and
// INFO takes a field behind its section.
func (l *redisLink) rows(query string) (rows [][]driver.Value, err error) {
	words, field := strings.Fields(query), ""
	if len(words) == 3 && words[0] == "INFO" {
		field, words = words[2]+":", words[:2]
	}
	_, err = l.Write(resp.Command(nil, words...))
	if err == nil {
		err = l.answers.Answer(func(text []byte) {
			rows = append(rows, []driver.Value{string(text)})
		})
	}
	var refused resp.Error
	switch {
	case err != nil:
		l.broken = !errors.As(err, &refused)
		return nil, closedEarly(err)
	case field != "" && len(rows) == 1:
		return line(rows[0][0].(string), field), nil
	case strings.HasPrefix(query, "CONFIG GET ") && len(rows) > 0:
		return rows[1:], nil
	}
	return rows, nil
}

// line is what stands behind a field on its line.
func line(text, field string) [][]driver.Value {
	for l := range strings.Lines(text) {
		if value, found := strings.CutPrefix(l, field); found {
			return [][]driver.Value{{strings.TrimSpace(value)}}
		}
	}
	return nil
}

// definiteRedis: everything that the server says but that it reads its data, or has
// no connection to spare.
func definiteRedis(err error) bool {
	var answer resp.Error
	return errors.As(err, &answer) && !strings.HasPrefix(string(answer), "LOADING") && !strings.Contains(string(answer), "max number of clients")
}

// deniedByRedis: an unknown user or a wrong password, and what that user may not do.
func deniedByRedis(err error) bool {
	var answer resp.Error
	return errors.As(err, &answer) && (strings.HasPrefix(string(answer), "WRONGPASS") || strings.HasPrefix(string(answer), "NOAUTH"))
}
