package cli

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/databases/foreign"
)

// Forms of addresses, with what they mean.
func TestAddress(t *testing.T) {
	tcp := func(protocol, user, address string) foreign.Server {
		return foreign.Server{Protocol: protocol, User: user, Network: "tcp", Address: address}
	}
	unix := func(protocol, user, path string) foreign.Server {
		return foreign.Server{Protocol: protocol, User: user, Network: "unix", Address: path}
	}
	with := func(s foreign.Server, database, mode string, files ...string) foreign.Server {
		s.Database, s.TLS.Mode = database, mode
		for i, to := range []*string{&s.TLS.CA, &s.TLS.Cert, &s.TLS.Key}[:len(files)] {
			*to = files[i]
		}
		return s
	}
	for text, want := range map[string]foreign.Server{
		"mysql://db":                                      tcp("mysql", "root", "db:3306"),
		"mariadb://dba@db:3307/shop":                      with(tcp("mysql", "dba", "db:3307"), "shop", ""),
		"mysql://dba%40x@[::1]":                           tcp("mysql", "dba@x", "[::1]:3306"),
		"mysql://dba@[::1]:3307":                          tcp("mysql", "dba", "[::1]:3307"),
		"mysql://dba@/?socket=/run/mysqld/a%20b.sock":     unix("mysql", "dba", "/run/mysqld/a b.sock"),
		"mysql://dba@/shop?socket=/run/my.sock":           with(unix("mysql", "dba", "/run/my.sock"), "shop", ""),
		"mysql://db?tls=true":                             with(tcp("mysql", "root", "db:3306"), "", "verify-full"),
		"mysql://db?tls=skip-verify":                      with(tcp("mysql", "root", "db:3306"), "", "require"),
		"mysql://db?tls=preferred":                        with(tcp("mysql", "root", "db:3306"), "", "prefer"),
		"mysql://db?tls=false":                            tcp("mysql", "root", "db:3306"),
		"mysql://db?ssl-ca=/ca":                           with(tcp("mysql", "root", "db:3306"), "", "verify-full", "/ca"),
		"mysql://db?ssl-key=/k&ssl-cert=/c&tls=true":      with(tcp("mysql", "root", "db:3306"), "", "verify-full", "", "/c", "/k"),
		"postgres://db":                                   tcp("postgres", "postgres", "db:5432"),
		"postgresql://u@10.0.0.1:99/x?sslmode=require":    with(tcp("postgres", "u", "10.0.0.1:99"), "x", "require"),
		"postgres://u@db?sslrootcert=/ca&sslmode=require": with(tcp("postgres", "u", "db:5432"), "", "verify-ca", "/ca"),
		"postgres://u@db?sslmode=verify-ca":               with(tcp("postgres", "u", "db:5432"), "", "verify-ca"),
		"postgres://u@db?sslmode=disable":                 tcp("postgres", "u", "db:5432"),
		"postgres://db?sslrootcert=system":                with(tcp("postgres", "postgres", "db:5432"), "", "verify-full"),
		"postgres://u@/x?host=/run/postgresql":            with(unix("postgres", "u", "/run/postgresql/.s.PGSQL.5432"), "x", ""),
		"postgres://u@/?port=5433&host=/run/postgresql":   unix("postgres", "u", "/run/postgresql/.s.PGSQL.5433"),
		"postgres://u@db?port=5433":                       tcp("postgres", "u", "db:5433"),
		"redis://db/3":                                    tcp("redis", "default", "db:6379"),
		"valkey://me@db:7000":                             tcp("redis", "me", "db:7000"),
		"rediss://db?cacert=/ca":                          with(tcp("redis", "default", "db:6379"), "", "verify-full", "/ca"),
		"rediss://db?skip_verify=true":                    with(tcp("redis", "default", "db:6379"), "", "require"),
		"redis+unix:///run/redis.sock":                    unix("redis", "default", "/run/redis.sock"),
		"clickhouse://db":                                 tcp("clickhouse", "default", "db:8123"),
		"clickhouse://me@db/x?secure=true":                with(tcp("clickhouse", "me", "db:8443"), "x", "verify-full"),
		"clickhouse://db:9?skip_verify=true&secure=true":  with(tcp("clickhouse", "default", "db:9"), "", "require"),
		"https://db":                                      with(tcp("clickhouse", "default", "db:8443"), "", "verify-full"),
	} {
		got, from, err := address(text)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v\nwant %+v", text, got, err, want)
		}
		if !strings.Contains(from, want.Address) || !strings.Contains(from, want.User) {
			t.Errorf("%s: from %s", text, from)
		}
	}
}

// What is no address, or has parameters that are not known, is an error that says what to type.
func TestWrongAddress(t *testing.T) {
	for text, says := range map[string]string{
		"mysql://::1:3306":                                 "in brackets",
		"mysql://dba@fe80::1":                              "in brackets",
		"mysql://":                                         "no host",
		"mysql:///shop":                                    "no host",
		"mysql://db:0":                                     "port",
		"mysql://db:99999":                                 "port",
		"mysql://db:x":                                     "is not one",
		"mysqll://db":                                      "did you mean mysql://?",
		"mysql://db?tsl=true":                              `no parameter "tsl"; did you mean "tls"?`,
		"mysql://db?sslmode=require":                       "belongs to postgres://",
		"postgres://db?tls=true":                           "belongs to mysql://",
		"redis://db?sslmode=require":                       "belongs to postgres://",
		"clickhouse://db?socket=/x":                        "belongs to mysql://",
		"mysql://db?tls=yes":                               "tls: want true, skip-verify, preferred, false",
		"postgres://db?sslmode=verify_full":                "sslmode: want disable",
		"mysql://db?tls=":                                  "tls: want",
		"mysql://db?tls=true&tls=false":                    "twice",
		"mysql://db?tls=skip-verify&ssl-ca=/ca":            "verifies none",
		"mysql://db?ssl-cert=/c":                           "together",
		"mysql://db?socket=/run/sock":                      "host and socket",
		"mysql:///?socket=run/sock":                        "not absolute",
		"postgres:///?host=db":                             "not absolute",
		"redis+unix://run/sock":                            "redis+unix:///PATH",
		"redis://db/shop":                                  "a number",
		"postgres://db?sslrootcert=system&sslmode=require": "verify-full",
		"postgres://db?port=x":                             "port",
	} {
		_, _, err := address(text)
		if err == nil || !strings.Contains(err.Error(), says) || exitCode(err) != exitUsage || err.(*usageError).help == "" {
			t.Errorf("%s: %v (%s); want %s", text, err, hint.Of(err), says)
		}
	}
}

// A password in an address is refused wherever it stands, and is in no text.
func TestNoPasswordInAddress(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		secret := rapid.StringMatching(`[@:/?#&=%;+ ]?gehe1m[@:/?#&=%;+ "']?x?`).Draw(r, "secret")
		if rapid.Bool().Draw(r, "escaped") {
			secret = url.QueryEscape(secret)
		}
		scheme := rapid.SampledFrom([]string{"mysql", "mariadb", "postgres", "redis", "rediss", "clickhouse", "https", "mysqll"}).Draw(r, "scheme")
		form := rapid.SampledFrom([]string{
			"%s://root:%s@db", "%s://:%s@db", "%s://root:%s@db/shop?tls=true", "%s://db?password=%s", "%s://db/x?tls=true&pwd=%s", "%s://db?PassWord=%s",
			"%s://db?passwd=%s", "%s://db?%s", "%s://db?tls=%s", "%s://db?sslmode=%s", "%s://db?auth_token=%s", "%s://db?tls=true&tls=%s",
		}).Draw(r, "form")
		text := fmt.Sprintf(form, scheme, secret)
		_, from, err := address(text)
		said := from
		if err != nil {
			said += err.Error() + hint.Of(err) + err.(*usageError).help
		}
		if strings.Contains(said, "gehe1m") {
			r.Errorf("%s: %s", text, said)
		}
		if err == nil {
			r.Errorf("%s is accepted", text)
		}
	})
}
