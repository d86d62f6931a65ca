package cli

import (
	"cmp"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/databases/foreign"
)

// param is a parameter of a DSN.
type param struct {
	name  string
	words []string // its values; nil: any
	set   func(d *dsn, value string)
}

// verified is the mode of TLS where only certificates are given.
func verified(d *dsn) {
	if d.server.TLS.Mode == foreign.None {
		d.server.TLS.Mode = foreign.VerifyFull
	}
}

// Parameters with files of certificates, under each client's own names.
func caParam(name string) param {
	return param{name, nil, func(d *dsn, path string) { d.server.TLS.CA = path; verified(d) }}
}

func certParam(name string) param {
	return param{name, nil, func(d *dsn, path string) { d.server.TLS.Cert = path; verified(d) }}
}

func keyParam(name string) param {
	return param{name, nil, func(d *dsn, path string) { d.server.TLS.Key = path }}
}

// mysqlModes are the words of the Go driver.
var mysqlModes = map[string]string{"true": foreign.VerifyFull, "skip-verify": foreign.Require, "preferred": foreign.Prefer, "false": foreign.None}

var mysqlParams = []param{
	{"tls", []string{"true", "skip-verify", "preferred", "false"}, func(d *dsn, word string) { d.server.TLS.Mode = mysqlModes[word] }},
	caParam("ssl-ca"), certParam("ssl-cert"), keyParam("ssl-key"),
	{"socket", nil, func(d *dsn, path string) { d.server.Network, d.server.Address = "unix", path }},
}

var postgresParams = []param{
	{"sslmode", []string{"disable", "prefer", "require", "verify-ca", "verify-full"}, func(d *dsn, word string) {
		if d.server.TLS.Mode = word; word == "disable" {
			d.server.TLS.Mode = foreign.None
		}
	}},
	caParam("sslrootcert"), certParam("sslcert"), keyParam("sslkey"),
	{"host", nil, func(d *dsn, dir string) {
		d.server.Network, d.server.Address = "unix", filepath.Join(dir, ".s.PGSQL."+d.port)
	}},
	{"port", nil, func(d *dsn, port string) {
		if d.port = port; d.server.Network == "unix" {
			d.server.Address = filepath.Join(filepath.Dir(d.server.Address), ".s.PGSQL."+port)
		}
	}},
}

var booleans = []string{"true", "false"}

var verifyParams = []param{
	{"skip_verify", booleans, func(d *dsn, word string) {
		if word == "true" {
			d.server.TLS.Mode = foreign.Require
		}
	}},
	caParam("cacert"), certParam("cert"), keyParam("key"),
}

// secure is ClickHouse's word for TLS, which has another port.
var secure = param{"secure", booleans, func(d *dsn, word string) {
	if word == "true" {
		d.port = httpsPort
		verified(d)
	}
}}

// query reads the parameters in the order of the table, so that theirs in the address does not matter.
func (d *dsn) query(u *url.URL) error {
	given, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return d.wrong("the parameters behind ? are not NAME=VALUE&NAME=VALUE")
	}
	for _, name := range queryNames(u.RawQuery) {
		if !slices.ContainsFunc(d.params, func(p param) bool { return p.name == name }) {
			return d.unknown(name)
		}
	}
	for _, p := range d.params {
		values, has := given[p.name]
		switch {
		case !has:
			continue
		case len(values) > 1:
			return d.wrong("%s is given twice", p.name)
		case values[0] == "" || p.words != nil && !slices.Contains(p.words, values[0]):
			return d.wrong("%s: want %s", p.name, cmp.Or(strings.Join(p.words, ", "), "a value"))
		}
		p.set(d, values[0])
	}
	return d.contradiction(given)
}

// contradiction is the error of parameters that have no effect together.
func (d *dsn) contradiction(given url.Values) error {
	t := d.server.TLS
	if t.CA == "system" && d.scheme.protocol == postgresScheme.protocol { // libpq's word
		t.CA, d.server.TLS.CA = "", ""
		if t.Mode != foreign.VerifyFull {
			return d.wrong("sslrootcert=system wants sslmode=verify-full")
		}
	}
	switch {
	case given.Get("sslmode") == foreign.Require && t.CA != "":
		d.server.TLS.Mode = foreign.VerifyCA // as libpq has it
	case t.CA != "" && t.Mode != foreign.VerifyCA && t.Mode != foreign.VerifyFull:
		return d.wrong("certificates are given, and this form of TLS verifies none")
	case (t.Cert == "") != (t.Key == ""):
		return d.wrong("the client's certificate and its key are given together")
	case t.Cert != "" && t.Mode == foreign.None:
		return d.wrong("a certificate is given, and no TLS")
	}
	return nil
}

// unknown is the error about a parameter that the scheme does not have. A text that is no name is not repeated: it may be
// the end of a password.
func (d *dsn) unknown(name string) error {
	var names []string
	for _, p := range d.params {
		names = append(names, p.name)
	}
	remedy := fmt.Sprintf("%s:// has no parameters", d.name)
	if len(names) > 0 {
		remedy = fmt.Sprintf("%s:// has the parameters %s", d.name, strings.Join(names, ", "))
	}
	if !isName(name) {
		return &usageError{fmt.Errorf("--like %s: a parameter is not NAME=VALUE", d.name), remedy}
	}
	end := ""
	if near := hint.Nearest(name, names); near != "" {
		end = fmt.Sprintf("; did you mean %q?", near)
	} else if owner := ownerOf(name); owner != "" {
		end = fmt.Sprintf(": it belongs to %s://", owner)
	}
	return &usageError{fmt.Errorf("--like %s: no parameter %q%s", d.name, name, end), remedy}
}

// ownerOf is the scheme that has a parameter; "": none.
func ownerOf(name string) string {
	for _, s := range []string{"mysql", "postgres", "rediss", "clickhouse"} {
		if slices.ContainsFunc(schemes[s].params, func(p param) bool { return p.name == name }) {
			return s
		}
	}
	return ""
}

// queryNames are the names of parameters.
func queryNames(raw string) (names []string) {
	for part := range strings.FieldsFuncSeq(raw, func(r rune) bool { return r == '&' || r == ';' }) {
		name, _, _ := strings.Cut(part, "=")
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain
		}
		names = append(names, name)
	}
	return names
}

// isSecret says whether a parameter is named as a password.
func isSecret(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"pass", "pwd", "secret", "token", "auth"}, func(word string) bool { return strings.Contains(name, word) }) || name == "pw"
}

// isName says whether a text can be the name of a parameter.
func isName(s string) bool {
	return s != "" && len(s) <= 40 && strings.IndexFunc(s, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '_' && r != '-' }) < 0
}
