package sysbench

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tarelab/tare/internal/base/allow"
)

// Program is the name of the program.
const Program = "sysbench"

// Bundled lists the database scripts that come with sysbench.
func Bundled() []string {
	return []string{
		"oltp_read_only", "oltp_read_write", "oltp_write_only", "oltp_point_select",
		"oltp_update_index", "oltp_update_non_index", "oltp_insert", "oltp_delete",
		"select_random_points", "select_random_ranges", "bulk_insert",
	}
}

// IsBundled reports whether a script is the name of a bundled one.
func IsBundled(script string) bool { return slices.Contains(Bundled(), script) }

// DataScript returns the script whose prepare command makes the data set of a script. The OLTP scripts
// share one data set.
func DataScript(script string) string {
	if IsBundled(script) && script != "bulk_insert" {
		return "oltp_read_write"
	}
	return script
}

// SharesTables reports whether a script has the options for tables and their size. text is the script if it
// is not bundled. sysbench ends with an error for an option that a script does not have.
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

// Identify reads the output of sysbench --version.
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

// Server says how to reach the database. With a Socket, Host and Port are not used.
type Server struct {
	Driver         string // "mysql", "pgsql"
	Socket         string
	Host           string
	Port           int
	User, Database string
	Secret         string
}

// Config returns an option file, which keeps the password out of the arguments: every user of the host can
// read those.
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
	// Options are passed on unchanged; see CheckOption.
	Options []string `json:"options,omitempty"`
}

// tables returns the options for tables if the script has them.
func (d Data) tables(shares bool) []string {
	if !shares {
		return nil
	}
	return []string{"--tables=" + strconv.Itoa(d.Tables), "--table-size=" + strconv.Itoa(d.Rows)}
}

// PrepareArgs returns the arguments that make the data set. config is the path of the option file. The seed
// makes every preparation write the same rows.
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
	// Seconds until it ends; 0: never.
	Seconds int
	// Rate is the events that sysbench starts per second; 0: no limit. (A hook has its own
	// schedule.)
	Rate int
	// Histogram makes sysbench print a histogram of latencies at the end.
	Histogram bool
}

// Args returns the arguments that run the hook's script at a path.
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

// passedOn has the options of sysbench and of its bundled scripts (1.0 and 1.1). Options of the user's own
// script are allowed too: sysbench refuses options that neither it nor the script has.
var passedOn = allow.List{
	Program: "sysbench", Dashed: true, Free: true,
	Names: allow.Words(`
		rand_seed rand_spec_iter rand_spec_pct rand_spec_res rand_pareto_h rand_zipfian_exp rand_iter validate percentile
		db_ps_mode mysql_ignore_errors mysql_compression mysql_ssl
		auto_inc create_secondary delete_inserts distinct_ranges index_updates non_index_updates order_ranges
		point_selects range_selects range_size reconnect secondary simple_ranges skip_trx sum_ranges mysql_storage_engine
		random_points random_ranges delta number_of_ranges`),
	Refused: allow.Words(`
		cpu_max_prime create_table_options db_debug debug forced_shutdown_timeout luajit_cmd mysql_debug
		mysql_dry_run mysql_ssl_ca mysql_ssl_cert mysql_ssl_cipher mysql_ssl_key mysql_local_infile mysql_no_beep
		pgsql_sslmode pgsql_variant thread_init_timeout thread_stack_size verbosity
		file_num file_block_size file_total_size file_test_mode file_io_mode file_async_backlog file_extra_flags
		file_fsync_freq file_fsync_all file_fsync_end file_fsync_mode file_merged_requests file_rw_ratio
		memory_block_size memory_total_size memory_scope memory_hugetlb memory_oper memory_access_mode
		mutex_num mutex_locks mutex_loops thread_yields thread_locks`),
	Ours: map[string]string{
		"threads": setThreads, "num_threads": setThreads,
		"time": decidesHowLong, "max_time": decidesHowLong,
		"events": decidesHowLong, "max_requests": decidesHowLong,
		"warmup_time": warmsUp, "forced_shutdown": endsIt,
		"rate": setRate, "tx_rate": setRate,
		"tables": setTables, "table_size": setSize, "rand_type": setRandType,
		"config_file": holdsPassword, "db_driver": setService,
		"mysql_host": setConnect, "mysql_port": setConnect, "mysql_socket": setConnect,
		"mysql_user": makesItsOwn, "mysql_db": makesItsOwn,
		"mysql_password": everybodyReads,
		"pgsql_password": everybodyReads,
		"pgsql_host":     setConnect, "pgsql_port": setConnect, "pgsql_user": makesItsOwn, "pgsql_db": makesItsOwn,
		"report_interval": everySecond, "histogram": setCount, "report_checkpoints": slicesRun,
		"help": doesNotRun, "version": doesNotRun,
	},
}

// CheckOption returns an error for an option that may not be passed on.
func CheckOption(option string) error { return passedOn.Check(option) }
