package pgbench

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/tarelab/tare/internal/base/allow"
)

// Program is the name of the program.
const Program = "pgbench"

// The built-in scripts.
const (
	TPCB         = "tpcb-like"
	SimpleUpdate = "simple-update"
	SelectOnly   = "select-only"
)

// Builtin lists the built-in scripts.
func Builtin() []string { return []string{TPCB, SimpleUpdate, SelectOnly} }

// Modes lists the query modes of the protocol.
func Modes() []string { return []string{"simple", "extended", "prepared"} }

// Version is the version of pgbench.
type Version struct {
	Major int
	Text  string
}

// pgbench (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)
var banner = regexp.MustCompile(`^pgbench \(PostgreSQL\) (([0-9]{1,4})\b.*|([0-9]{1,4})(devel|beta|rc).*)`)

// Identify reads the output of pgbench --version.
func Identify(text string) (Version, error) {
	m := banner.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return Version{}, fmt.Errorf("unknown version of pgbench %q", text[:min(len(text), 100)])
	}
	major, err := strconv.Atoi(m[2] + m[3])
	if err != nil {
		return Version{}, err
	}
	if major < 10 {
		return Version{}, fmt.Errorf("pgbench %s is too old: want 10 or later", m[1])
	}
	return Version{Major: major, Text: m[1]}, nil
}

// Data is a data set of pgbench.
type Data struct {
	// Scale is the scale factor: 100 000 accounts each.
	Scale int `json:"scale"`
	// Options of the initialisation are passed on unchanged.
	Options []string `json:"options,omitempty"`
}

// Bytes returns the approximate size.
func (d Data) Bytes() int64 { return int64(d.Scale) * 16 << 20 }

// InitArgs returns the arguments that make the data set.
func (d Data) InitArgs(s Server) []string {
	args := append([]string{"--initialize", "--quiet", "--scale=" + strconv.Itoa(d.Scale)}, d.Options...)
	return append(args, s.args()...)
}

// Server says how to reach the database. Host is an address or the directory of the socket.
type Server struct {
	Host           string
	Port           int
	User, Database string
}

func (s Server) args() []string {
	return []string{"--host=" + s.Host, "--port=" + strconv.Itoa(s.Port), "--username=" + s.User, s.Database}
}

// PassFile returns a password file, which keeps the password out of arguments and environment. The variable
// PGPASSFILE names it, and only its owner may read it.
func PassFile(secret string) []byte {
	escape := strings.NewReplacer(`\`, `\\`, `:`, `\:`)
	return []byte("*:*:*:*:" + escape.Replace(secret) + "\n")
}

// Command is one execution.
type Command struct {
	Server
	// Script is the name of a built-in script or the absolute path of a file.
	Script string
	Mode   string
	// Clients are its connections, Threads its threads.
	Clients, Threads int
	// Seconds until it ends. SIGALRM ends it earlier.
	Seconds int
	// LogPrefix is the prefix of its logs of transactions: prefix.PID of the first thread,
	// prefix.PID.N of the others. Empty: no logs.
	LogPrefix string
	// Seed of its random numbers, since version 11; 0: pgbench chooses.
	Seed uint32
	// Options are passed on unchanged; see CheckOption.
	Options []string
}

// Forever is a number of seconds that every version accepts and that never passes.
const Forever = 2_000_000_000

// Args returns the arguments that run a script.
func (r Command) Args() []string {
	args := []string{
		"--no-vacuum", "--protocol=" + r.Mode,
		"--client=" + strconv.Itoa(r.Clients), "--jobs=" + strconv.Itoa(r.Threads),
		"--time=" + strconv.Itoa(r.Seconds), "--progress=1",
	}
	if r.Seed > 0 {
		args = append(args, "--random-seed="+strconv.FormatUint(uint64(r.Seed), 10))
	}
	if IsBuiltin(r.Script) {
		args = append(args, "--builtin="+r.Script)
	} else {
		args = append(args, "--file="+r.Script)
	}
	if r.LogPrefix != "" {
		args = append(args, "--log", "--log-prefix="+r.LogPrefix)
	}
	return append(append(args, r.Options...), r.args()...)
}

// IsBuiltin reports whether a script is the name of a built-in one.
func IsBuiltin(script string) bool {
	return script == TPCB || script == SimpleUpdate || script == SelectOnly
}

// Writes reports whether a script may write; unknown scripts may.
func Writes(script string) bool { return script != SelectOnly }

// passedOn has the options of pgbench for a run (10 to 18). Unlike getopt, it accepts no shortened names.
var passedOn = allow.List{
	Program: "pgbench", Dashed: true,
	Names: allow.Words("define exit_on_abort failures_detailed max_tries no_vacuum report_latencies report_per_command verbose_errors"),
	Ours: map[string]string{
		"initialize": preparesData, "scale": setScale,
		"client": setClients, "jobs": setThreads, "protocol": setMode,
		"time": decidesHowLong, "transactions": decidesHowLong,
		"builtin": setScript, "file": setScript, "select_only": setScript, "skip_some_updates": setScript,
		"rate": madeUpFor, "log": readsLog,
		"log_prefix": readsLog, "aggregate_interval": readsLog,
		"sampling_rate": countsEvery, "connect": connections,
		"host": makesServer, "port": makesServer, "username": makesItsOwn, "dbname": makesItsOwn,
		"random_seed": setsIt, "debug": floodsLog, "help": doesNotRun, "version": doesNotRun,
	},
}

// CheckOption returns an error for an option that may not be passed on.
func CheckOption(option string) error { return passedOn.Check(option) }

// initOptions has the options of the initialisation that may be passed on.
var initOptions = allow.List{
	Program: "pgbench --initialize", Dashed: true,
	Names: allow.Words("fillfactor foreign_keys partitions partition_method unlogged_tables init_steps"),
}

// CheckInitOption returns an error for an option of the initialisation that may not be passed on.
func CheckInitOption(option string) error { return initOptions.Check(option) }
