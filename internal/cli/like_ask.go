package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/databases/foreign"
	"github.com/tarelab/tare/internal/databases/like"
	"github.com/tarelab/tare/internal/undo/trust"
)

// askLike asks a running server for its settings, for each server program that gets them.
func (f *experimentFlags) askLike(dsn string, servers []server) error {
	at, from, err := address(dsn)
	if err != nil {
		return err
	}
	servers = slices.DeleteFunc(slices.Clone(servers), func(s server) bool { return s.Service.Describe().Protocol != at.Protocol })
	if len(servers) == 0 {
		return &usageError{fmt.Errorf("--like %s: the experiment has no such server", from), "tare run mysql-layers, postgres-layers, redis-layers or clickhouse-colocation"}
	}
	if at.Secret, err = f.passwordFile(); err != nil {
		return err
	}
	for _, s := range servers {
		t, err := f.target(s)
		if err != nil {
			return err
		}
		adopted, err := f.askAt(t, &at, from)
		if err != nil {
			return err
		}
		f.taken = append(f.taken, taken{"--like " + from, s.Service, adopted, s.paths})
	}
	return nil
}

// askAt asks the server at an address. It asks the user for a password that is needed.
func (f *experimentFlags) askAt(t like.Target, at *foreign.Server, from string) (like.Adopted, error) {
	adopted, err := like.Ask(context.Background(), t, *at, from)
	if refused(err) == nil && f.Password == "" && at.Secret == "" && isDenied(err) && term.IsTerminal(int(os.Stdin.Fd())) {
		if at.Secret, err = promptPassword(from); err != nil {
			return adopted, err
		}
		adopted, err = like.Ask(context.Background(), t, *at, from)
	}
	if err != nil {
		return adopted, askError(from, *at, err)
	}
	return adopted, nil
}

// passwordFile reads the file of --like-password. An error does not show its name: people put the password there.
func (f *experimentFlags) passwordFile() (string, error) {
	if f.Password == "" {
		return "", nil
	}
	text, err := trust.ReadGiven(f.Password)
	if err != nil {
		why := errors.New("cannot be read as a file")
		if errors.Is(err, fs.ErrNotExist) {
			why = fs.ErrNotExist
		}
		return "", &usageError{fmt.Errorf("--like-password: %w", why), "--like-password FILE names a file that holds the password"}
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}

// isDenied says whether a server refuses user or password.
func isDenied(err error) bool {
	var e *foreign.Error
	return errors.As(err, &e) && e.Denied
}

// refused is the error of a password that would leave this host in clear; nil: it is another one.
func refused(err error) *foreign.Error {
	var e *foreign.Error
	if errors.As(err, &e) && e.Clear {
		return e
	}
	return nil
}

// withTLS are forms of addresses that protect a password.
var withTLS = map[string]string{
	mysqlScheme.protocol:           "mysql://USER@HOST?tls=true (tls=skip-verify: the certificate is not verified), or on the server's host mysql://USER@/?socket=PATH",
	postgresScheme.protocol:        "postgres://USER@HOST?sslmode=verify-full (require: the certificate is not verified), or on the server's host postgres://USER@/?host=DIR",
	redisTLS.protocol:              "rediss://USER@HOST (?skip_verify=true: the certificate is not verified), or on the server's host redis+unix:///PATH",
	schemes["clickhouse"].protocol: "clickhouse://USER@HOST?secure=true (&skip_verify=true: the certificate is not verified)",
}

// askError is the error of a server that has not answered.
func askError(from string, at foreign.Server, err error) error {
	remedy := "check host, port and TLS"
	var connection *foreign.Error
	switch {
	case !errors.As(err, &connection) && hint.Of(err) != "": // about a setting
		remedy = ""
	case refused(err) != nil && isDenied(err):
		err, remedy = errors.New("the server asks for a password, which would leave this host in clear"), withTLS[at.Protocol]
	case refused(err) != nil:
		remedy = withTLS[at.Protocol]
	case isDenied(err):
		remedy = "--like-password FILE; another user: SCHEME://USER@HOST; an account may want TLS: " + withTLS[at.Protocol]
	}
	return &usageError{fmt.Errorf("--like %s: %w", from, err), remedy}
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
