// Package chbench describes clickhouse-benchmark, also "clickhouse benchmark":
// what each version of it can, and which arguments and input it is given. It
// starts nothing. What it prints is read by internal/format/clickhouse.
package chbench

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The names of the program: alone, and as a part of the one that is everything.
const (
	Program = "clickhouse-benchmark"
	One     = "clickhouse"
	Part    = "benchmark"
)

// Placeholder stands for the password in the arguments, see
// serve.StartConcealed; Variable holds it. New versions read it there too.
const (
	Placeholder = "concealed-by-tare"
	Variable    = "CLICKHOUSE_PASSWORD"
)

// Can is what a version can, by the options that it lists.
type Can struct {
	// JSON: it writes a report as JSON, before 23.8.
	JSON bool
	// ClientTime: it reports the server's time unless asked for the client's, from
	// 22.8 on. Older ones know no other than the client's.
	ClientTime bool
	// GoOn is its option for going on after a query that failed; empty: it ends.
	GoOn string
	// Reconnect: it can connect anew, "" never, "flag" for every query, "number"
	// after so many.
	Reconnect string
}

var reconnectNumber = regexp.MustCompile(`--reconnect\s+(\[=)?arg`)

// lists says whether a help has an option.
func lists(help, name string) bool {
	return regexp.MustCompile(regexp.QuoteMeta(name) + `(\s|$)`).MatchString(help)
}

// Identify reads what --help prints.
func Identify(help string) (Can, error) {
	for _, needed := range []string{"--concurrency", "--iterations", "--timelimit", "--delay"} {
		if !lists(help, needed) {
			return Can{}, fmt.Errorf("it is no %s: its help does not list %s", Program, needed)
		}
	}
	can := Can{JSON: lists(help, "--json"), ClientTime: lists(help, "--client-side-time")}
	for _, name := range []string{"--continue_on_errors", "--ignore-error"} {
		if lists(help, name) {
			can.GoOn = name
			break
		}
	}
	switch {
	case reconnectNumber.MatchString(help):
		can.Reconnect = "number"
	case lists(help, "--reconnect"):
		can.Reconnect = "flag"
	}
	return can, nil
}

// Run is one execution.
type Run struct {
	Host        string
	Port        int
	User        string
	Database    string
	Concurrency int
	// Iterations is how many queries at most, 0: as many as there is time for.
	Iterations int
	// Seconds after which no query is begun.
	Seconds float64
	// Reconnect is after how many queries a connection is made anew; 0: never.
	Reconnect int
	// JSON is the path of its report, where it can write one.
	JSON string
	// Options are passed on as they are; see CheckOption.
	Options []string
}

// Args are the arguments for a version, without the program's name. What
// differs by version is forced in all: the client's time, connections that are
// kept, no reports in between.
func (r Run) Args(can Can) ([]string, error) {
	args := []string{
		"--host=" + r.Host, "--port=" + strconv.Itoa(r.Port), "--user=" + r.User, "--password", Placeholder, "--database=" + r.Database,
		"--concurrency=" + strconv.Itoa(r.Concurrency), "--delay=0",
		"--timelimit=" + strconv.FormatFloat(r.Seconds, 'f', -1, 64), "--iterations=" + strconv.Itoa(r.Iterations),
	}
	if can.JSON && r.JSON != "" {
		args = append(args, "--json="+r.JSON)
	}
	if can.ClientTime {
		args = append(args, "--client-side-time")
	}
	if can.GoOn != "" {
		args = append(args, can.GoOn)
	}
	switch {
	case can.Reconnect == "number":
		args = append(args, "--reconnect="+strconv.Itoa(r.Reconnect)) // the default is not the same in all versions
	case r.Reconnect == 1 && can.Reconnect == "flag":
		args = append(args, "--reconnect")
	case r.Reconnect > 1 && can.Reconnect == "flag":
		return nil, fmt.Errorf("this %s makes new connections for every query (reconnect=1) or never, not after %d", Program, r.Reconnect)
	case r.Reconnect > 0:
		return nil, fmt.Errorf("this %s keeps its connections: want reconnect=0", Program)
	}
	return append(args, r.Options...), nil
}

// ErrNoQueries means that there is nothing to ask.
var ErrNoQueries = errors.New("no queries")

// Input are queries as it reads them: one a line, in the escaping of
// ClickHouse's format TabSeparated.
func Input(queries []string) []byte {
	escape := strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`)
	var b strings.Builder
	for _, q := range queries {
		b.WriteString(escape.Replace(q) + "\n")
	}
	return []byte(b.String())
}

// ours are the options that tare sets, or that make a run something else.
var ours = []string{
	"host", "port", "user", "password", "database", "secure", "connection", "config", "query", "queries-format", "help", "concurrency",
	"max_concurrency", "iterations", "timelimit", "delay", "json", "cumulative", "precise", "client-side-time", "reconnect",
	"continue_on_errors", "ignore-error", "max-consecutive-errors", "roundrobin",
}

// CheckOption says what is wrong with an option that a user wants passed on:
// a setting of queries (--max_threads=1), --stage, --randomize.
func CheckOption(text string) error {
	name, found := strings.CutPrefix(text, "--")
	name, _, _ = strings.Cut(name, "=")
	switch {
	case !found || name == "":
		return fmt.Errorf("%q: want --name=value", text)
	case slices.Contains(ours, name):
		return fmt.Errorf("%q is not yours to set", text)
	}
	return nil
}
