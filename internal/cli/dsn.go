package cli

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/databases/clickhouse"
	"github.com/tarelab/tare/internal/databases/foreign"
	"github.com/tarelab/tare/internal/databases/mysql"
	"github.com/tarelab/tare/internal/databases/postgres"
	"github.com/tarelab/tare/internal/databases/redis"
)

// scheme is the first part of a DSN: what it stands for, and the parameters that it has.
type scheme struct {
	protocol, port, user string
	params               []param
	tls                  string // mode without parameters
	socket               bool   // the path is that of a Unix socket
}

var schemes = map[string]scheme{
	"mysql": mysqlScheme, "mariadb": mysqlScheme,
	"postgres": postgresScheme, "postgresql": postgresScheme,
	"redis": {redis.Name, "6379", "default", nil, foreign.None, false}, "valkey": {redis.Name, "6379", "default", nil, foreign.None, false},
	"rediss": redisTLS, "valkeys": redisTLS,
	"redis+unix": redisSocket, "valkey+unix": redisSocket,
	"clickhouse": {clickhouse.Name, "8123", "default", slices.Concat([]param{secure}, verifyParams), foreign.None, false},
	"https":      {clickhouse.Name, httpsPort, "default", verifyParams, foreign.VerifyFull, false},
}

var (
	mysqlScheme    = scheme{mysql.Family, "3306", "root", mysqlParams, foreign.None, false}
	postgresScheme = scheme{postgres.Name, "5432", "postgres", postgresParams, foreign.None, false}
	redisTLS       = scheme{redis.Name, "6379", "default", verifyParams, foreign.VerifyFull, false}
	redisSocket    = scheme{redis.Name, "", "default", nil, foreign.None, true}
)

// httpsPort is the default port of ClickHouse's HTTP interface over TLS.
const httpsPort = "8443"

// dsn is the address of a server as the user gave it.
type dsn struct {
	scheme
	name   string // of the scheme
	server foreign.Server
}

// address reads a DSN. A password in it would be visible to all users of the host; no error shows more of the DSN than
// words that are known.
func address(text string) (at foreign.Server, from string, err error) {
	u, err := url.Parse(text)
	if err != nil {
		return at, "", &usageError{errors.New("--like: the address of a server is not one"), likeForms} // the error could hold a password
	}
	s, known := schemes[u.Scheme]
	if !known {
		return at, "", &usageError{fmt.Errorf("--like: no server has addresses of this form%s", didYouMeanScheme(u.Scheme)), likeForms}
	}
	if _, has := u.User.Password(); has || slices.ContainsFunc(queryNames(u.RawQuery), isSecret) {
		return at, "", &usageError{errors.New("--like: a password in the address is visible to all users of this host"), "--like-password FILE, or without it tare asks"}
	}
	_, behind, _ := strings.Cut(text, "://")
	if strings.Contains(strings.TrimPrefix(behind, u.User.String()+"@"), "@") || u.Fragment != "" || u.Opaque != "" {
		return at, "", &usageError{fmt.Errorf("--like %s: a user name with one of : / ? # @ is written in percent encoding, and a password is not in an address", u.Scheme), likeForms}
	}
	d := &dsn{scheme: s, name: u.Scheme, server: foreign.Server{Protocol: s.protocol, User: s.user, Network: "tcp", TLS: foreign.TLS{Mode: s.tls}}}
	if name := u.User.Username(); name != "" {
		d.server.User = name
	}
	for _, step := range []func(*url.URL) error{d.path, d.query, d.place} {
		if err := step(u); err != nil {
			return at, "", err
		}
	}
	return d.server, d.from(), nil
}

// didYouMeanScheme is the end of the error about an unknown scheme.
func didYouMeanScheme(word string) string {
	var all []string
	for s := range schemes {
		all = append(all, s)
	}
	slices.Sort(all)
	if near := hint.Nearest(word, all); near != "" {
		return fmt.Sprintf("; did you mean %s://?", near)
	}
	return ""
}

// wrong is an error about the DSN.
func (d *dsn) wrong(format string, args ...any) error {
	return &usageError{fmt.Errorf("--like %s: %s", d.name, fmt.Sprintf(format, args...)), likeForms}
}

// path is the database, or the path of the socket. All settings are the server's, so Redis' number of a database says
// nothing.
func (d *dsn) path(u *url.URL) error {
	switch {
	case d.socket && (u.Host != "" || u.Path == ""):
		return d.wrong("want %s:///PATH of the socket", d.name)
	case d.socket:
		d.server.Network, d.server.Address = "unix", u.Path
		return nil
	}
	d.server.Database = strings.TrimPrefix(u.Path, "/")
	if d.protocol != redis.Name {
		return nil
	}
	if _, err := strconv.ParseUint(d.server.Database, 10, 16); err != nil && d.server.Database != "" {
		return d.wrong("a database of Redis is a number")
	}
	d.server.Database = ""
	return nil
}

// place is host and port, unless there is a socket.
func (d *dsn) place(u *url.URL) error {
	host, port := u.Hostname(), u.Port()
	bare := strings.Count(u.Host, ":") > 1 && !strings.HasPrefix(u.Host, "[")
	n, err := strconv.ParseUint(cmp.Or(port, d.port, "1"), 10, 16)
	switch {
	case bare:
		return &usageError{fmt.Errorf("--like %s: an IPv6 address stands in brackets", d.name), fmt.Sprintf("%s://USER@[::1]:%s", d.name, d.port)}
	case d.server.Network == "unix" && u.Host != "":
		return d.wrong("host and socket are given; want one of them")
	case d.server.Network == "unix" && !filepath.IsAbs(d.server.Address):
		return d.wrong("the path of the socket is not absolute")
	case d.server.Network == "unix":
		return nil
	case host == "":
		return d.wrong("no host")
	case err != nil || n == 0:
		return d.wrong("the port is not a number from 1 to 65535")
	}
	d.server.Address = net.JoinHostPort(host, cmp.Or(port, d.port))
	return nil
}

// from names the server.
func (d *dsn) from() string {
	return fmt.Sprintf("%s://%s@%s", d.name, d.server.User, d.server.Address)
}
