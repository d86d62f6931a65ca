package mysql

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tarelab/tare/internal/databases/db"
)

// The settings of the family, in tare's words.
const (
	setBufferPool  = "buffer_pool"
	setRedoLog     = "redo_log"
	setFlushMethod = "flush_method"
	setFlushLog    = "flush_log_at_trx_commit"
	setBinlog      = "binlog"
	setSyncBinlog  = "sync_binlog"
	setDoublewrite = "doublewrite"
	setPerfSchema  = "performance_schema"
)

func flushMethods() []string {
	return []string{"fsync", "O_DSYNC", "O_DIRECT", "O_DIRECT_NO_FSYNC", "littlesync", "nosync", db.Leave}
}

func (m Service) settings() []db.Setting {
	methods := flushMethods()
	writes := []string{"on", "off", "detect_only"}
	return []db.Setting{
		{Name: setBufferPool, Default: "128M", Help: "innodb_buffer_pool_size", Check: db.SizeFrom(5 * db.MiB)},
		{Name: setRedoLog, Default: "64M", Help: "size of the redo log, all files together", Check: db.SizeFrom(8 * db.MiB)},
		{Name: setFlushMethod, Default: "O_DIRECT", Help: "innodb_flush_method",
			Words: methods, Check: db.AnyWord(methods...), Open: true},
		{Name: setFlushLog, Default: "1", Help: "innodb_flush_log_at_trx_commit: 1 makes every commit durable",
			Words: []string{"0", "1", "2"}, Check: db.WholeFrom(0, 3)}, // MariaDB has 3
		{Name: setBinlog, Default: "off", Words: []string{"off", "on"},
			Help: "the binary log; off in all flavours, which MySQL 8 and later do not have by default"},
		{Name: setSyncBinlog, Default: "1", Help: "sync_binlog: commits per sync of the binary log, where it is on",
			Check: db.WholeFrom(0, 1<<32-1)},
		{Name: setDoublewrite, Default: "on", Help: "innodb_doublewrite: protects pages against torn writes",
			Words: writes, Check: db.AnyWord(writes...), Open: true},
		{Name: setPerfSchema, Default: db.Leave, Help: "performance_schema; MariaDB has it off and MySQL on by default",
			Words: []string{db.Leave, "on", "off"}},
	}
}

// options are the settings as options of the server, after constant, which are equal in all arms.
func options(v db.Version, c db.Config) ([]string, error) {
	s := c.Settings
	redo, err := redo(v, s[setRedoLog])
	if err != nil {
		return nil, err
	}
	pool, err := db.Size(s[setBufferPool])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", setBufferPool, err)
	}
	args := append(constant(v, c), redo...)
	args = append(args,
		fmt.Sprintf("--innodb-buffer-pool-size=%d", pool),
		"--innodb-flush-log-at-trx-commit="+s[setFlushLog],
		"--innodb-doublewrite="+strings.ToUpper(s[setDoublewrite]),
		"--sync-binlog="+s[setSyncBinlog],
	)
	if method := s[setFlushMethod]; method != db.Leave {
		args = append(args, "--innodb-flush-method="+method)
	}
	if p := s[setPerfSchema]; p != db.Leave {
		args = append(args, "--performance-schema="+strings.ToUpper(p))
	}
	return append(args, binlog(v, s[setBinlog])...), nil
}

func redo(v db.Version, size string) ([]string, error) {
	n, err := db.Size(size)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", setRedoLog, err)
	case v.Flavour == MariaDB && !v.AtLeast(10, 5):
		return []string{"--innodb-log-files-in-group=1", fmt.Sprintf("--innodb-log-file-size=%d", n)}, nil
	case v.Flavour == MariaDB:
		return []string{fmt.Sprintf("--innodb-log-file-size=%d", n)}, nil
	case v.AtLeast(8, 0, 30):
		return []string{fmt.Sprintf("--innodb-redo-log-capacity=%d", n)}, nil
	}
	return []string{"--innodb-log-files-in-group=2", fmt.Sprintf("--innodb-log-file-size=%d", n/2)}, nil
}

func binlog(v db.Version, word string) []string {
	if word == "on" {
		return []string{"--log-bin=binlog", "--server-id=1"}
	}
	if v.Flavour != MariaDB {
		return []string{"--skip-log-bin"}
	}
	return nil
}

// constant are options that no experiment can set. Timeouts are long, because the clock runs on
// while an arm is frozen. Work on timers, such as events, and what depends on the last launch, is off. The load's
// connections and prepared statements (threads x tables x kinds) always fit.
func constant(v db.Version, c db.Config) []string {
	args := []string{
		"--skip-name-resolve",
		"--event-scheduler=OFF",
		"--innodb-buffer-pool-load-at-startup=OFF",
		"--innodb-buffer-pool-dump-at-shutdown=OFF",
		"--innodb-lock-wait-timeout=100000",
		"--lock-wait-timeout=100000",
		"--net-read-timeout=100000",
		"--net-write-timeout=100000",
		"--max-connections=" + strconv.Itoa(max(151, c.Connections+20)),
		"--max-prepared-stmt-count=1048576",
	}
	switch {
	case v.Flavour == MariaDB:
		// The server ends itself after a wait of so many seconds for a latch.
		args = append(args, "--innodb-fatal-semaphore-wait-threshold=4294967295")
	case v.AtLeast(8, 0, 11):
		args = append(args, "--loose-mysqlx=OFF")
	}
	return args
}

// readBack are the variables of the settings, and further ones for the report.
func readBack(v db.Version, c db.Config) []db.Query {
	s := c.Settings
	ask := func(variable, wanted string, accepts func(string) bool) db.Query {
		return db.Query{Name: variable, Ask: "SELECT @@GLOBAL." + variable, Wanted: wanted, Accepts: accepts}
	}
	onOff := func(word string) func(string) bool {
		return func(got string) bool {
			return slices.Contains(map[string][]string{"on": {"1", "ON"}, "off": {"0", "OFF"}}[word], strings.ToUpper(got))
		}
	}
	written := func(word string) func(string) bool {
		if word == "on" || word == "off" {
			return onOff(word)
		}
		return func(got string) bool { return strings.EqualFold(got, word) }
	}
	same := func(wanted string) func(string) bool {
		return func(got string) bool { return wanted == db.Leave || strings.EqualFold(got, wanted) }
	}
	list := []db.Query{
		ask("version", v.Text, func(got string) bool { return strings.HasPrefix(got, numbers(v)) }),
		ask("innodb_flush_method", s[setFlushMethod], same(s[setFlushMethod])),
		ask("innodb_flush_log_at_trx_commit", s[setFlushLog], same(s[setFlushLog])),
		ask("innodb_doublewrite", s[setDoublewrite], written(s[setDoublewrite])),
		ask("log_bin", s[setBinlog], onOff(s[setBinlog])),
		ask("sync_binlog", s[setSyncBinlog], same(s[setSyncBinlog])),
		ask("innodb_buffer_pool_size", s[setBufferPool], db.AtLeast(s[setBufferPool])),
		ask("performance_schema", s[setPerfSchema], func(got string) bool {
			return s[setPerfSchema] == db.Leave || onOff(s[setPerfSchema])(got)
		}),
		ask("innodb_page_size", "", nil),
		ask("innodb_io_capacity", "", nil),
		ask("innodb_use_native_aio", "", nil),
		ask("transaction_isolation", "", nil),
		ask("max_connections", "", nil),
	}
	if v.Flavour == MariaDB && !v.AtLeast(11, 1) {
		i := slices.IndexFunc(list, func(q db.Query) bool { return q.Name == "transaction_isolation" })
		list[i].Name, list[i].Ask = "tx_isolation", "SELECT @@GLOBAL.tx_isolation"
	}
	if v.Flavour == MariaDB && v.AtLeast(11) {
		for _, name := range fileSwitches {
			list = append(list, ask(name, "", nil))
		}
	}
	return append(list, redoQuery(v, s[setRedoLog]))
}

// fileSwitches are what MariaDB has from 11.0 on instead of innodb_flush_method, which overrides them.
var fileSwitches = []string{
	"innodb_data_file_buffering", "innodb_data_file_write_through", "innodb_log_file_buffering", "innodb_log_file_write_through",
}

func redoQuery(v db.Version, size string) db.Query {
	q := db.Query{Name: "innodb_log_file_size", Ask: "SELECT @@GLOBAL.innodb_log_file_size", Wanted: size, Accepts: db.AtLeast(size)}
	switch {
	case v.Flavour != MariaDB && v.AtLeast(8, 0, 30):
		q.Name, q.Ask = "innodb_redo_log_capacity", "SELECT @@GLOBAL.innodb_redo_log_capacity"
	case v.Flavour != MariaDB:
		q.Name, q.Ask = "innodb redo log", "SELECT @@GLOBAL.innodb_log_file_size * @@GLOBAL.innodb_log_files_in_group"
	}
	return q
}

func numbers(v db.Version) string {
	return fmt.Sprintf("%d.%d.%d", v.Number[0], v.Number[1], v.Number[2])
}
