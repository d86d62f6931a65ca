package like

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/databases/mysql"
	"github.com/tarelab/tare/internal/databases/postgres"
	"github.com/tarelab/tare/internal/databases/redis"
)

// mysql8 is a server whose own values differ from tare's defaults.
func mysql8() Target {
	return Target{
		Service: mysql.Service{Flavour: mysql.Oracle}, Version: db.Version{Flavour: "mysql", Number: [3]int{8, 0, 15}, Text: "8.0.15"},
		Own: map[string]string{
			"innodb_buffer_pool_size": "134217728", "innodb_log_file_size": "50331648", "innodb_log_files_in_group": "2", "innodb_flush_method": "fsync",
			"innodb_flush_log_at_trx_commit": "1", "log_bin": "ON", "sync_binlog": "1", "innodb_doublewrite": "TRUE", "performance_schema": "TRUE",
		},
	}
}

// What the user's file does not set is what the server has by itself, and not tare's default.
func TestUnsetIsTheServersOwn(t *testing.T) {
	for _, c := range []struct {
		text string
		want map[string]string
	}{
		{"max_connections=1", map[string]string{"binlog": "on", "flush_method": "fsync", "redo_log": "96M", "buffer_pool": "128M", "performance_schema": "on"}},
		{"skip-log-bin", map[string]string{"binlog": "off", "redo_log": "96M"}},
		{"innodb_log_file_size=1G", map[string]string{"redo_log": "2147483648"}},
		{"innodb_log_files_in_group=3", map[string]string{"redo_log": "150994944"}},
		{"innodb_flush_method=O_DIRECT", map[string]string{"flush_method": "O_DIRECT", "binlog": "on"}},
	} {
		a, err := File(mysql8(), files(t, "my.cnf", "[mysqld]\n"+c.text+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range c.want {
			if a.Settings[name] != want {
				t.Errorf("%s: %s=%s, want %s", c.text, name, a.Settings[name], want)
			}
		}
	}
}

// No setting of tare's keeps tare's default, whatever the file sets: it is the file's, the program's own, or left to
// the program.
func TestNoDefaultOfTares(t *testing.T) {
	own := map[string]map[string]string{
		"mysql": mysql8().Own,
		postgres.Name: {"shared_buffers": "1024", "fsync": "on", "synchronous_commit": "on", "full_page_writes": "on", "wal_sync_method": "open_datasync",
			"max_wal_size": "512", "autovacuum": "off"},
		redis.Name: {"appendonly": "yes", "appendfsync": "always", "save": "3600 1", "io_threads": "4"},
	}
	for _, service := range []db.Service{mysql8().Service, postgres.Service{}, redis.Service{}} {
		d := service.Describe()
		rapid.Check(t, func(r *rapid.T) {
			mine := map[string]string{}
			for _, name := range slices.Sorted(maps.Keys(own[d.Name])) {
				if rapid.Bool().Draw(r, name) {
					mine[name] = own[d.Name][name]
				}
			}
			if mine["innodb_log_file_size"] == "" {
				delete(mine, "innodb_log_files_in_group") // a number of files of unknown size
			}
			if mine["appendfsync"] != "" {
				mine["appendonly"] = "yes" // without that log the setting has no effect and is left out
			}
			a, err := adopt(Target{Service: service, Own: mine}, nil, true)
			if err != nil {
				r.Fatal(err)
			}
			for _, s := range d.Settings {
				value, set := a.Settings[s.Name]
				from := slices.ContainsFunc(d.Own.Names, func(name string) bool { return mine[name] != "" && d.Options.Parameter(name) == s.Name })
				if from != (set && value != db.Leave) {
					r.Errorf("%s: %s=%q although own is %v", d.Name, s.Name, value, mine)
				}
			}
		})
	}
}

// The capacity of the redo log counts where it is set, or where neither size nor number of files is.
func TestRedoLogOf(t *testing.T) {
	given := func(own bool, name, value string) db.Given {
		return db.Given{Name: name, Value: value, Valued: true, Own: own}
	}
	target := mysql8()
	target.Own = nil
	for want, list := range map[string][]db.Given{
		"100M":      {given(true, "innodb_redo_log_capacity", "104857600"), given(true, "innodb_log_file_size", "50331648"), given(true, "innodb_log_files_in_group", "2")},
		"400M":      {given(false, "innodb_redo_log_capacity", "400M"), given(false, "innodb_log_file_size", "50331648"), given(true, "innodb_log_files_in_group", "2")},
		"536870912": {given(true, "innodb_redo_log_capacity", "104857600"), given(false, "innodb_log_file_size", "256M"), given(true, "innodb_log_files_in_group", "2")},
	} {
		a, err := adopt(target, list, true)
		if err != nil || a.Settings["redo_log"] != want {
			t.Errorf("%v, %v; want %s", a.Settings, err, want)
		}
	}
}

// A switch by which the server would choose what tare sets is refused; a running server has chosen.
func TestSizing(t *testing.T) {
	for _, line := range []string{"innodb_dedicated_server", "innodb_dedicated_server=ON", "innodb-dedicated-server=1", "innodb_buffer_pool_size=0", "innodb_buffer_pool_size=auto"} {
		_, err := File(mysql8(), files(t, "my.cnf", "[mysqld]\n"+line+"\n"))
		if err == nil || !strings.Contains(err.Error(), "my.cnf:2: ") || hint.Of(err) == "" {
			t.Errorf("%s: %v", line, err)
		}
	}
	a, err := File(mysql8(), files(t, "my.cnf", "[mysqld]\ninnodb_dedicated_server=OFF\n"))
	if err != nil || len(a.Options) > 0 {
		t.Errorf("%+v, %v", a, err)
	}
	a, err = adopt(mysql8(), []db.Given{{Name: "innodb_dedicated_server", Value: "ON", Valued: true}, {Name: "innodb_buffer_pool_size", Value: "8589934592", Valued: true}}, true)
	if err != nil || a.Settings["buffer_pool"] != "8589934592" || len(a.Changes) != 1 {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := File(Target{Service: mariadb}, files(t, "my.cnf", "[mysqld]\ninnodb_flush_method=fsync\ninnodb_data_file_buffering=ON\n")); err == nil {
		t.Error("a method and the switches that it overrides were accepted together")
	}
	a, err = File(Target{Service: mariadb, Own: map[string]string{"innodb_flush_method": "O_DIRECT"}}, files(t, "my.cnf", "[mysqld]\ninnodb_data_file_buffering=ON\n"))
	if err != nil || a.Settings["flush_method"] != db.Leave {
		t.Errorf("%+v, %v", a, err)
	}
}

// What the program does not take is an error with its line; of a running server of another version it is left out.
func TestNotTaken(t *testing.T) {
	target := mysql8()
	target.Try = func(settings map[string]string, options []string) (complaints []string, err error) {
		for _, o := range options {
			if strings.HasPrefix(o, "--binlog-transaction-compression") {
				complaints = append(complaints, fmt.Sprintf("unknown variable '%s'", strings.TrimPrefix(o, "--")))
			}
		}
		if settings["doublewrite"] == "detect_only" {
			complaints = append(complaints, "innodb_doublewrite=DETECT_ONLY is none of its words")
		}
		return complaints, nil
	}
	for line, at := range map[string]string{"binlog_transaction_compression=ON": "my.cnf:3: ", "innodb_doublewrite=DETECT_ONLY": "my.cnf:3: "} {
		_, err := File(target, files(t, "my.cnf", "[mysqld]\ninnodb_io_capacity=300\n"+line+"\n"))
		if err == nil || !strings.Contains(err.Error(), at) || !strings.Contains(err.Error(), "MySQL 8.0.15 does not take it") {
			t.Errorf("%s: %v", line, err)
		}
	}
	a, err := adopt(target, []db.Given{
		{Name: "binlog_transaction_compression", Value: "ON", Valued: true}, {Name: "binlog_transaction_compression_level_zstd", Value: "3", Valued: true},
		{Name: "innodb_io_capacity", Value: "300", Valued: true},
	}, true)
	if err != nil || !slices.Equal(a.Options, []string{"--innodb-io-capacity=300"}) || len(a.Changes) != 2 {
		t.Errorf("%+v, %v", a, err)
	}
}
