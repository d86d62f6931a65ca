package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/tarelab/tare/internal/databases/clickhouse"
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/databases/like"
	"github.com/tarelab/tare/internal/databases/mysql"
	"github.com/tarelab/tare/internal/databases/postgres"
	"github.com/tarelab/tare/internal/databases/redis"
	"github.com/tarelab/tare/internal/undo/trust"
)

// scheme is the first part of a DSN with the protocol, port and user that it stands for.
type scheme struct{ protocol, port, user string }

var schemes = map[string]scheme{
	"mysql": {mysql.Family, "3306", "root"}, "mariadb": {mysql.Family, "3306", "root"},
	"postgres": {postgres.Name, "5432", "postgres"}, "postgresql": {postgres.Name, "5432", "postgres"},
	"redis": {redis.Name, "6379", "default"}, "valkey": {redis.Name, "6379", "default"},
	"clickhouse": {clickhouse.Name, "8123", "default"},
}

// address reads a DSN. A password in it would be visible to all users of the host.
func address(dsn string) (at db.Address, from string, err error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return at, "", &usageError{errors.New("--like: the address of a server is not one"), likeForms} // the error could hold a password
	}
	s, known := schemes[u.Scheme]
	if _, has := u.User.Password(); has || u.Query().Has("password") {
		return at, "", &usageError{errors.New("--like: a password in the address is visible to all users of this host"), "--like-password FILE, or without it tare asks"}
	}
	if !known || u.Hostname() == "" {
		return at, "", &usageError{fmt.Errorf("--like %s: no address of a server", dsn), likeForms}
	}
	at = db.Address{Protocol: s.protocol, User: s.user, Dial: net.JoinHostPort(u.Hostname(), s.port), Database: strings.TrimPrefix(u.Path, "/")}
	if u.Port() != "" {
		at.Dial = u.Host
	}
	if name := u.User.Username(); name != "" {
		at.User = name
	}
	return at, fmt.Sprintf("%s://%s@%s", u.Scheme, at.User, at.Dial), nil
}

// askLike asks a running server for its settings.
func (f *experimentFlags) askLike(dsn string, servers []server) (taken, error) {
	at, from, err := address(dsn)
	if err != nil {
		return taken{}, err
	}
	i := slices.IndexFunc(servers, func(s server) bool { return s.service.Describe().Protocol == at.Protocol })
	if i < 0 {
		return taken{}, &usageError{fmt.Errorf("--like %s: the experiment has no such server", from), "tare run mysql-layers, postgres-layers, redis-layers or clickhouse-colocation"}
	}
	s := servers[i]
	if f.Password != "" {
		text, err := trust.ReadGiven(f.Password)
		if err != nil {
			return taken{}, &usageError{fmt.Errorf("--like-password: %w", err), ""}
		}
		at.Secret = strings.TrimRight(string(text), "\r\n")
	}
	adopted, denied, err := like.Ask(context.Background(), s.service, at, from)
	if denied && f.Password == "" && term.IsTerminal(int(os.Stdin.Fd())) {
		if at.Secret, err = promptPassword(from); err != nil {
			return taken{}, err
		}
		adopted, denied, err = like.Ask(context.Background(), s.service, at, from)
	}
	switch {
	case denied:
		return taken{}, &usageError{fmt.Errorf("--like %s: %w", from, err), "--like-password FILE; another user: SCHEME://USER@HOST"}
	case err != nil:
		return taken{}, &usageError{fmt.Errorf("--like %s: %w", from, err), "check host and port; the connection is TCP without TLS"}
	}
	return taken{"--like " + from, s.service, adopted, s.paths}, nil
}

// promptPassword asks for a password on the terminal, without showing it.
func promptPassword(from string) (string, error) {
	fmt.Fprintf(os.Stderr, "password for %s: ", from)
	text, err := term.ReadPassword(int(os.Stdin.Fd()))
	fmt.Fprintln(os.Stderr)
	if err != nil {
		return "", fmt.Errorf("read the password: %w", err)
	}
	return string(text), nil
}
