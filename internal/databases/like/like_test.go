package like

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/databases/clickhouse"
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/databases/mysql"
	"github.com/tarelab/tare/internal/databases/postgres"
	"github.com/tarelab/tare/internal/databases/redis"
	"github.com/tarelab/tare/internal/testing/testneed"
)

var mariadb = mysql.Service{Flavour: mysql.MariaDB}

// files writes files, the text behind each name, and returns the path of the first.
func files(t *testing.T, texts ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(texts); i += 2 {
		path := filepath.Join(dir, texts[i])
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(texts[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, texts[0])
}

// leftOut are the names of the settings that are left out, sorted.
func leftOut(a Adopted) (names []string) {
	for _, c := range a.Changes {
		if c.Used == "" {
			names = append(names, c.Name)
		}
	}
	slices.Sort(names)
	return names
}

func TestOptionFiles(t *testing.T) {
	for name, c := range map[string]struct {
		service  db.Service
		version  db.Version
		files    []string
		settings map[string]string
		options  []string
		left     []string
	}{
		"mysql": {mariadb, db.Version{Number: [3]int{10, 11, 6}, Text: "10.11.6"}, []string{"my.cnf", `
# a comment
[client]
port = 3307
[mysqld]
innodb-buffer-pool-size = 1G   # with a comment
innodb_log_file_size=96M
innodb_flush_method = o_direct_no_fsync
innodb_flush_log_at_trx_commit=2
log-bin = /var/log/mysql/mysql-bin.log
sync_binlog=0
skip-innodb_doublewrite
performance_schema
sql_mode = "STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION"
default-time-zone = '+00:00'
datadir = /srv/mysql
plugin-load-add = auth_socket.so
wait_timeout = 60
innodb_io_capacity = 200
!includedir conf.d
[mysqld-5.7]
innodb_io_capacity = 300
`, "conf.d/a.cnf", "[mariadb-10.11]\ninnodb_io_capacity = 2000\n", "conf.d/b.txt", "no option file"},
			map[string]string{"buffer_pool": "1G", "redo_log": "96M", "flush_method": "O_DIRECT_NO_FSYNC", "flush_log_at_trx_commit": "2",
				"binlog": "on", "sync_binlog": "0", "doublewrite": "off", "performance_schema": "on"},
			[]string{"--default-time-zone=+00:00", "--innodb-io-capacity=2000", "--sql-mode=STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION"},
			[]string{"datadir", "plugin_load_add", "wait_timeout"}},
		"two redo log files": {mysql.Service{Flavour: mysql.Oracle}, db.Version{}, []string{"my.cnf", "[mysqld]\ninnodb_log_file_size=48M\ninnodb_log_files_in_group=2\n"},
			map[string]string{"redo_log": "100663296", "flush_method": "default", "performance_schema": "default"}, nil, nil},
		"postgres": {postgres.Service{}, db.Version{}, []string{"postgresql.conf", `
shared_buffers = 4096		# 32 MB in blocks
max_wal_size = 2GB
fsync off
synchronous_commit = 'remote_write'
full_page_writes = true
work_mem = '8MB'
include_dir 'conf.d'
include_if_exists 'nowhere.conf'
checkpoint_timeout = 5min
log_line_prefix = '%m [%p] it''s '
shared_preload_libraries = 'pg_stat_statements'
`, "conf.d/a.conf", "work_mem = 16MB\nrandom_page_cost = 1.1\n"},
			map[string]string{"shared_buffers": "33554432", "max_wal_size": "2G", "fsync": "off", "synchronous_commit": "remote_write", "full_page_writes": "on",
				"wal_sync_method": "default"},
			[]string{"--random_page_cost=1.1", "--work_mem=16MB"},
			[]string{"checkpoint_timeout", "log_line_prefix", "shared_preload_libraries"}},
		"redis": {redis.Service{}, db.Version{}, []string{"redis.conf", `
save 3600 1 300 100
save 60 10000
appendonly yes
appendfsync always
io-threads 4
maxmemory 100mb
maxmemory-policy allkeys-lru
requirepass "a secret"
dir /var/lib/redis
include more*.conf
`, "more-1.conf", "hz 50\n"},
			map[string]string{"save": "3600,1,300,100,60,10000", "appendonly": "yes", "appendfsync": "always", "io_threads": "4"},
			[]string{"--hz=50", "--maxmemory-policy=allkeys-lru", "--maxmemory=100mb"},
			[]string{"dir", "requirepass"}},
		"clickhouse": {clickhouse.Service{}, db.Version{}, []string{"users.xml", `<?xml version="1.0"?>
<clickhouse><profiles><default><max_threads>3</max_threads><use_uncompressed_cache>1</use_uncompressed_cache></default>
<readonly><readonly>1</readonly></readonly></profiles></clickhouse>
`, "users.d/a.xml", "<clickhouse><profiles><default><max_memory_usage>1000000000</max_memory_usage></default></profiles><merge_tree><max_parts_in_total>5</max_parts_in_total></merge_tree></clickhouse>"},
			map[string]string{"max_threads": "3", "use_uncompressed_cache": "on", "max_memory_usage": "1000000000",
				"max_block_size": "default", "mark_cache_size": "default", "uncompressed_cache_size": "default"},
			[]string{"--merge_tree.max_parts_in_total=5"}, []string{"profiles.readonly.readonly"}},
	} {
		a, err := File(Target{Service: c.service, Version: c.version}, files(t, c.files...))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d := cmp.Diff(c.settings, a.Settings) + cmp.Diff(c.options, a.Options) + cmp.Diff(c.left, leftOut(a)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if _, err := db.Complete(c.service.Describe(), a.Settings); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, o := range a.Options {
			if err := c.service.Describe().Options.Check(o); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// An invalid line is an error with file and line.
func TestInvalidLines(t *testing.T) {
	for _, c := range []struct {
		service db.Service
		name    string
		text    string
		at      string // of the file
		line    int
	}{
		{mariadb, "my.cnf", "[mysqld]\nthis is no option\n", "my.cnf", 2},
		{mariadb, "my.cnf", "port = 3306\n[mysqld]\n", "my.cnf", 1},
		{mariadb, "my.cnf", "[mysqld]\n\ninnodb_buffer_pool_size = 12X\n", "my.cnf", 3},
		{mariadb, "my.cnf", "[mysqld]\ninnodb_flush_log_at_trx_commit = 7\n", "my.cnf", 2},
		{mariadb, "my.cnf", "[mysqld]\nsql_mode = 'ANSI\n", "my.cnf", 2},
		{mariadb, "my.cnf", "[mysqld\n", "my.cnf", 1},
		{mariadb, "my.cnf", "[mysqld]\n!includedir nowhere\n", "my.cnf", 2},
		{mariadb, "my.cnf", "!include my.cnf\n", "my.cnf", 0},
		{postgres.Service{}, "postgresql.conf", "fsync = on\nshared_buffers = much\n", "postgresql.conf", 2},
		{postgres.Service{}, "postgresql.conf", "shared_buffers\n", "postgresql.conf", 1},
		{postgres.Service{}, "postgresql.conf", "work_mem = 4MB 5MB\n", "postgresql.conf", 1},
		{postgres.Service{}, "postgresql.conf", "fsync = perhaps\n", "postgresql.conf", 1},
		{redis.Service{}, "redis.conf", "appendonly perhaps\n", "redis.conf", 1},
		{redis.Service{}, "redis.conf", "hz\n", "redis.conf", 1},
		{redis.Service{}, "redis.conf", "hz \"10\n", "redis.conf", 1},
		{clickhouse.Service{}, "users.xml", "<clickhouse>\n<profiles></clickhouse>\n", "users.xml", 2},
		{clickhouse.Service{}, "users.xml", "<clickhouse><profiles><default>\n<max_threads>many</max_threads></default></profiles></clickhouse>", "users.xml", 2},
		{clickhouse.Service{}, "users.xml", "max_threads: 3\n", "users.xml", 1},
	} {
		path := files(t, c.name, c.text)
		_, err := File(Target{Service: c.service}, path)
		want := filepath.Join(filepath.Dir(path), c.at)
		if c.line > 0 {
			want += fmt.Sprintf(":%d: ", c.line)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %s", c.text, err, want)
		}
	}
}

// The files that Debian installs are read, and nothing but what tare cannot have is left out.
func TestDebiansFiles(t *testing.T) {
	for path, c := range map[string]struct {
		service db.Service
		has     string // an option or setting
		left    string // one that is left out
	}{
		"/etc/mysql/my.cnf":                       {mariadb, "--character-set-server=utf8mb4", "pid_file"},
		"/etc/postgresql/15/main/postgresql.conf": {postgres.Service{}, "shared_buffers=128M", "data_directory"},
		"/etc/redis/redis.conf":                   {redis.Service{}, "--hz=10", "pidfile"},
		"/etc/clickhouse-server/config.xml":       {clickhouse.Service{}, "mark_cache_size=5368709120", "path"},
	} {
		if _, err := os.Stat(path); err != nil {
			testneed.Feature(t, path, err)
		}
		if !Matches(c.service, path) {
			t.Errorf("%s is no option file by its name", path)
		}
		a, err := File(Target{Service: c.service}, path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		all := a.Options
		for name, value := range a.Settings {
			all = append(all, name+"="+value)
		}
		if !slices.Contains(all, c.has) || !slices.Contains(leftOut(a), c.left) {
			t.Errorf("%s: %q, left out %q", path, all, leftOut(a))
		}
		for _, change := range a.Changes {
			if change.Why.IsZero() || !strings.HasPrefix(change.From, "/etc/") {
				t.Errorf("%s: %+v", path, change)
			}
		}
		t.Logf("%s: %q; left out: %q", path, all, leftOut(a))
	}
}

// Files with the line ends or the byte order mark of another system, or that are no text, are read or refused at
// their line.
func TestEncodings(t *testing.T) {
	for _, c := range []struct {
		service    db.Service
		name, text string
		option     string // that it has; empty: it is refused
	}{
		{mariadb, "my.cnf", "[mysqld]\r\ninnodb_io_capacity = 300\r\n", "--innodb-io-capacity=300"},
		{postgres.Service{}, "postgresql.conf", "work_mem = 7MB\r\n# end\r\n", "--work_mem=7MB"},
		{redis.Service{}, "redis.conf", "hz 37\r\n", "--hz=37"},
		{mariadb, "my.cnf", "\ufeff[mysqld]\ninnodb_io_capacity = 300\n", ""},
		{postgres.Service{}, "postgresql.conf", "\ufeffwork_mem = 7MB\n", ""},
		{mariadb, "my.cnf", "[mysqld]\n\xff\xfe = 1\n", ""},
		{postgres.Service{}, "postgresql.conf", "\xff = 7MB\n", ""},
		{clickhouse.Service{}, "config.xml", "<clickhouse>\n<mark_cache_size>\xff</mark_cache_size></clickhouse>", ""},
	} {
		a, err := File(Target{Service: c.service}, files(t, c.name, c.text))
		switch {
		case c.option != "" && (err != nil || !slices.Contains(a.Options, c.option)):
			t.Errorf("%q: %+v, %v", c.text, a, err)
		case c.option == "" && (err == nil || !strings.Contains(err.Error(), c.name+":") || hint.Of(err) == ""):
			t.Errorf("%q: %+v, %v", c.text, a, err)
		}
	}
}

// Sizes that would not fit are scaled down together, and only then.
func TestFit(t *testing.T) {
	d := mariadb.Describe()
	large := func() Adopted {
		return Adopted{Settings: map[string]string{"buffer_pool": "8G"}, Options: []string{"--innodb-io-capacity=1", "--key-buffer-size=2G"}}
	}
	roomy := large()
	if roomy.Fit(d, 11<<30); len(roomy.Changes) > 0 || roomy.Settings["buffer_pool"] != "8G" {
		t.Errorf("%+v", roomy)
	}
	tight := large()
	tight.Fit(d, 1<<30)
	if tight.Settings["buffer_pool"] != "819M" || !slices.Contains(tight.Options, "--key-buffer-size=213909504") || len(tight.Changes) != 2 {
		t.Errorf("%+v", tight)
	}
	if c := tight.Changes[0]; c.Name != "buffer_pool" || c.Value != "8G" || c.Used != "819M" || c.Why.Value("total_mib") != 10240.0 {
		t.Errorf("%+v", c)
	}
	if tight.Fit(d, 1<<30); len(tight.Changes) != 2 {
		t.Errorf("fitted twice: %+v", tight.Changes)
	}
}

// A name that is nearly an option is no silent omission, and an error has a remedy.
func TestLikelyMistakes(t *testing.T) {
	a, err := File(Target{Service: mariadb}, files(t, "my.cnf", "[mysqld]\ninnodb_io_capacityy = 5\n"))
	if err != nil || len(a.Changes) != 1 || a.Changes[0].Why != perhaps("innodb_io_capacity") {
		t.Errorf("%+v, %v", a, err)
	}
	_, err = File(Target{Service: mariadb}, files(t, "my.cnf", "[mysqld]\ninnodb_doublewrite = may-be\n"))
	if hint.Of(err) == "" {
		t.Errorf("no remedy: %v", err)
	}
	_, err = File(Target{Service: mariadb}, filepath.Join(t.TempDir(), "my.cnf"))
	if !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
