package sysbench

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Program is its name.
const Program = "sysbench"

// Bundled are the database scripts that come with sysbench.
func Bundled() []string {
	return []string{
		"oltp_read_only", "oltp_read_write", "oltp_write_only", "oltp_point_select",
		"oltp_update_index", "oltp_update_non_index", "oltp_insert", "oltp_delete",
		"select_random_points", "select_random_ranges", "bulk_insert",
	}
}

// IsBundled says whether a script is named by its name.
func IsBundled(script string) bool { return slices.Contains(Bundled(), script) }

// DataScript is the script whose prepare command makes the data set of a
// script: all of one family share one.
func DataScript(script string) string {
	if IsBundled(script) && script != "bulk_insert" {
		return "oltp_read_write"
	}
	return script
}

// SharesTables says whether a script takes the options for tables and their
// size; text is that of a script that is not bundled. An option that a script
// does not have is a fatal error of sysbench.
func SharesTables(script string, text []byte) bool {
	if IsBundled(script) {
		return script != "bulk_insert"
	}
	s := string(text)
	return strings.Contains(s, "oltp_common") || strings.Contains(s, "table_size") && strings.Contains(s, "tables")
}

// Version is the version of sysbench.
type Version struct {
	Major, Minor int
	Text         string
}

// "sysbench 1.0.20", "sysbench 1.1.0-3ceba0b", and before 1.0 "sysbench 0.5:  multi-threaded ...".
var banner = regexp.MustCompile(`sysbench (([0-9]{1,6})\.([0-9]{1,6})[^\s:]*)`)

// Identify reads what sysbench --version prints.
func Identify(text string) (Version, error) {
	m := banner.FindStringSubmatch(text)
	if m == nil {
		return Version{}, fmt.Errorf("unknown version of sysbench %q", text[:min(len(text), 100)])
	}
	major, err := strconv.Atoi(m[2])
	if err != nil {
		return Version{}, err
	}
	minor, err := strconv.Atoi(m[3])
	if err != nil {
		return Version{}, err
	}
	if major < 1 {
		return Version{}, fmt.Errorf("sysbench %s is too old: want 1.0 or later", m[1])
	}
	return Version{Major: major, Minor: minor, Text: m[1]}, nil
}

// Server is where the database is. With a Socket, Host and Port are not used.
type Server struct {
	Driver         string // "mysql", "pgsql"
	Socket         string
	Host           string
	Port           int
	User, Database string
	Secret         string
}

// Config is an option file: the password must not be among the arguments,
// where every user of the host can read it.
func (s Server) Config() []byte {
	var b strings.Builder
	set := func(name, value string) { fmt.Fprintf(&b, "%s-%s=%s\n", s.Driver, name, value) }
	fmt.Fprintf(&b, "db-driver=%s\n", s.Driver)
	if s.Socket != "" {
		set("socket", s.Socket)
	} else {
		set("host", s.Host)
		set("port", strconv.Itoa(s.Port))
	}
	set("user", s.User)
	set("db", s.Database)
	if s.Secret != "" {
		set("password", s.Secret)
	}
	return []byte(b.String())
}

// Data is a data set of sysbench.
type Data struct {
	// Script is a bundled name or an absolute path.
	Script string `json:"script"`
	Tables int    `json:"tables"`
	Rows   int    `json:"rows"` // of each table
	// Options are passed on as they are; see CheckOption.
	Options []string `json:"options,omitempty"`
}

// tables are the options for the tables, for a script that has them.
func (d Data) tables(shares bool) []string {
	if !shares {
		return nil
	}
	return []string{"--tables=" + strconv.Itoa(d.Tables), "--table-size=" + strconv.Itoa(d.Rows)}
}

// PrepareArgs make the data set; config is the path of the option file. The
// seed makes two that were prepared alike hold the same rows.
func (d Data) PrepareArgs(config string, threads int, shares bool) []string {
	args := []string{DataScript(d.Script), "--config-file=" + config, "--rand-seed=1", "--threads=" + strconv.Itoa(threads)}
	args = append(args, d.tables(shares)...)
	return append(append(args, d.Options...), "prepare")
}

// Command is one execution.
type Command struct {
	Data
	Threads int
	// RandType is sysbench's rand-type; empty: its default.
	RandType string
	// Seconds until it ends by itself; 0: never.
	Seconds int
	// Rate is the events per second that sysbench itself lets begin; 0: as many
	// as it can. (A hook has a schedule of its own.)
	Rate int
	// Histogram has it print its latencies at the end.
	Histogram bool
}

// Args run a script: that of the hook, at a path.
func (r Command) Args(script, config string, shares bool) []string {
	args := []string{
		script, "--config-file=" + config,
		"--threads=" + strconv.Itoa(r.Threads), "--time=" + strconv.Itoa(r.Seconds), "--events=0",
		"--report-interval=1",
	}
	args = append(args, r.tables(shares)...)
	if r.RandType != "" {
		args = append(args, "--rand-type="+r.RandType)
	}
	if r.Rate > 0 {
		args = append(args, "--rate="+strconv.Itoa(r.Rate))
	}
	if r.Histogram {
		args = append(args, "--histogram=on")
	}
	return append(append(args, r.Options...), "run")
}

// ours are the options that tare sets, by their beginning, with the reason why
// a user cannot.
var ours = []struct{ option, why string }{
	{"threads", "set threads"}, {"num-threads", "set threads"},
	{"time", "tare decides how long it runs"}, {"max-time", "tare decides how long it runs"},
	{"events", "tare decides how long it runs"}, {"max-requests", "tare decides how long it runs"},
	{"warmup-time", "tare warms up by itself"}, {"forced-shutdown", "tare ends it"},
	{"rate", "set rate"}, {"tx-rate", "set rate"},
	{"tables", "set tables"}, {"table-size", "set size"}, {"rand-type", "set rand_type"},
	{"config-file", "it would replace the one that holds the password"}, {"db-driver", "set service"},
	{"mysql-host", "set connect"}, {"mysql-port", "set connect"}, {"mysql-socket", "set connect"},
	{"mysql-user", "tare makes its own"}, {"mysql-db", "tare makes its own"},
	{"mysql-password", "arguments can be read by every user of the host"},
	{"pgsql-password", "arguments can be read by every user of the host"},
	{"pgsql-host", "set connect"}, {"pgsql-port", "set connect"}, {"pgsql-user", "tare makes its own"}, {"pgsql-db", "tare makes its own"},
	{"report-interval", "it is 1 s"}, {"histogram", "set count"}, {"report-checkpoints", "tare slices the run"},
	{"help", "it would not run"}, {"version", "it would not run"},
}

// CheckOption says what is wrong with an option that a user wants passed on.
func CheckOption(option string) error {
	name, found := strings.CutPrefix(option, "--")
	if !found || name == "" {
		return fmt.Errorf("%q: want --name=value", option)
	}
	name, _, _ = strings.Cut(strings.ReplaceAll(name, "_", "-"), "=")
	for _, o := range ours {
		if o.option == name {
			return fmt.Errorf("%q is not yours to set: %s", option, o.why)
		}
	}
	return nil
}
