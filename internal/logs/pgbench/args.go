package pgbench

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/tarelab/tare/internal/base/allow"
)

// Program is its name.
const Program = "pgbench"

// The built-in scripts.
const (
	TPCB         = "tpcb-like"
	SimpleUpdate = "simple-update"
	SelectOnly   = "select-only"
)

// Builtin are the built-in scripts.
func Builtin() []string { return []string{TPCB, SimpleUpdate, SelectOnly} }

// Modes are the ways of the protocol.
func Modes() []string { return []string{"simple", "extended", "prepared"} }

// Version is the version of pgbench.
type Version struct {
	Major int
	Text  string
}

// pgbench (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)
var banner = regexp.MustCompile(`^pgbench \(PostgreSQL\) (([0-9]{1,4})\b.*|([0-9]{1,4})(devel|beta|rc).*)`)

// Identify reads what pgbench --version prints.
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
	// Scale is 100 000 accounts each.
	Scale int `json:"scale"`
	// Options of the initialisation are passed on as they are.
	Options []string `json:"options,omitempty"`
}

// Bytes is about how large it is.
func (d Data) Bytes() int64 { return int64(d.Scale) * 16 << 20 }

// InitArgs make the data set.
func (d Data) InitArgs(s Server) []string {
	args := append([]string{"--initialize", "--quiet", "--scale=" + strconv.Itoa(d.Scale)}, d.Options...)
	return append(args, s.args()...)
}

// Server is where the database is. Host is an address or the directory of its
// socket.
type Server struct {
	Host           string
	Port           int
	User, Database string
}

func (s Server) args() []string {
	return []string{"--host=" + s.Host, "--port=" + strconv.Itoa(s.Port), "--username=" + s.User, s.Database}
}

// PassFile is the file that keeps the password out of arguments and
// environment: the environment names it as PGPASSFILE. Nobody else may read it.
func PassFile(secret string) []byte {
	escape := strings.NewReplacer(`\`, `\\`, `:`, `\:`)
	return []byte("*:*:*:*:" + escape.Replace(secret) + "\n")
}

// Command is one execution.
type Command struct {
	Server
	// Script is a built-in one or the absolute path of a file.
	Script string
	Mode   string
	// Clients are its connections, Threads its threads.
	Clients, Threads int
	// Seconds until it ends by itself; it can be ended earlier by SIGALRM.
	Seconds int
	// LogPrefix is that of its logs of transactions: prefix.PID and, for the
	// threads after the first, prefix.PID.N; empty: none.
	LogPrefix string
	// Seed of its random numbers, from version 11 on; 0: whatever it takes.
	Seed uint32
	// Options are passed on as they are; see CheckOption.
	Options []string
}

// Forever is the largest number of seconds that every version takes.
const Forever = 2_000_000_000

// Args run a script.
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

// IsBuiltin says whether a script is named by its name.
func IsBuiltin(script string) bool {
	return script == TPCB || script == SimpleUpdate || script == SelectOnly
}

// Writes says whether a script commits anything; one that is not known may.
func Writes(script string) bool { return script != SelectOnly }

// passedOn has the options of pgbench for a run (10 to 18). getopt takes any beginning of a name
// that is unique; the list does not.
var passedOn = allow.List{
	Program: "pgbench", Dashed: true,
	Names: allow.Words("define exit_on_abort failures_detailed max_tries no_vacuum report_latencies report_per_command verbose_errors"),
	Ours: map[string]string{
		"initialize": "tare prepares the data set", "scale": "set scale",
		"client": "set clients", "jobs": "set threads", "protocol": "set mode",
		"time": "tare decides how long it runs", "transactions": "tare decides how long it runs",
		"builtin": "set script", "file": "set script", "select_only": "set script", "skip_some_updates": "set script",
		"rate": "its schedule goes on while it is paused, and would be made up for", "log": "tare reads the log itself",
		"log_prefix": "tare reads the log itself", "aggregate_interval": "tare reads the log itself",
		"sampling_rate": "tare counts every transaction", "connect": "the connections would be measured and not the queries",
		"host": "tare makes the server", "port": "tare makes the server", "username": "tare makes its own", "dbname": "tare makes its own",
		"random_seed": "tare sets it", "debug": "it would flood the log", "help": "it would not run", "version": "it would not run",
	},
}

// CheckOption says what is wrong with an option that a user wants passed on.
func CheckOption(option string) error { return passedOn.Check(option) }

// initOptions are those of the initialisation that a user may pass on.
var initOptions = allow.List{
	Program: "pgbench --initialize", Dashed: true,
	Names: allow.Words("fillfactor foreign_keys partitions partition_method unlogged_tables init_steps"),
}

// CheckInitOption says what is wrong with an option for the initialisation.
func CheckInitOption(option string) error { return initOptions.Check(option) }
