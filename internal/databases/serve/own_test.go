package serve

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/databases"
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/databases/like"
	"github.com/tarelab/tare/internal/databases/mysql"
	"github.com/tarelab/tare/internal/databases/postgres"
	"github.com/tarelab/tare/internal/databases/redis"
	"github.com/tarelab/tare/internal/testing/testneed"
)

// programs are the server programs of this host that can be asked: of the databases in PATH, and of
// $TARETEST_MYSQL, a list of directories with bin/mysqld.
func programs(t *testing.T) (all []Found) {
	t.Helper()
	for _, name := range []string{mysql.MariaDB, postgres.Name, redis.Name} {
		f, err := Find(t.Context(), name, "", "")
		if err != nil {
			testneed.Feature(t, name, err)
		}
		all = append(all, f)
	}
	for _, dir := range filepath.SplitList(os.Getenv("TARETEST_MYSQL")) {
		f, err := Find(t.Context(), mysql.Oracle, filepath.Join(dir, "bin/mysqld"), "")
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, f)
	}
	return all
}

// A server that starts with the values that its program says are its own has them, each one.
func TestOwnValues(t *testing.T) {
	for _, f := range programs(t) {
		own, err := f.Own(t.Context())
		if err != nil {
			t.Errorf("%s: %v", f.Version.Product(), err)
			continue
		}
		names := slices.DeleteFunc(slices.Clone(f.Service.Describe().Own.Names), func(name string) bool { return own[name] != "" })
		if slices.ContainsFunc(names, func(name string) bool {
			return !strings.HasPrefix(name, "innodb_redo") && !strings.HasPrefix(name, "innodb_log_files")
		}) {
			t.Errorf("%s: no value of %v", f.Version.Product(), names)
		}
		a, err := like.File(like.Target{Service: f.Service, Version: f.Version, Own: own}, emptyFile(t, f))
		if err != nil {
			t.Errorf("%s: %v", f.Version.Product(), err)
			continue
		}
		for name, want := range ownOf(f.Version) {
			if a.Settings[name] != want {
				t.Errorf("%s: %s=%s, want %s", f.Version.Product(), name, a.Settings[name], want)
			}
		}
		if complaints, err := f.Complaints(t.Context(), a.Settings, nil); err != nil || len(complaints) > 0 {
			t.Errorf("%s: its own values: %q, %v", f.Version.Product(), complaints, err)
		}
	}
}

// ownOf are what the manuals of some versions say about the values that nobody has set.
func ownOf(v db.Version) map[string]string {
	switch {
	case v.Flavour == mysql.Oracle && v.AtLeast(8):
		return map[string]string{"binlog": "on", "flush_method": "fsync", "redo_log": "96M", "sync_binlog": "1", "performance_schema": "on"}
	case v.Flavour == mysql.Oracle:
		return map[string]string{"binlog": "off", "flush_method": "fsync", "redo_log": "96M"}
	case v.Flavour == mysql.MariaDB && v.AtLeast(10, 6):
		return map[string]string{"binlog": "off", "flush_method": "O_DIRECT", "redo_log": "96M", "sync_binlog": "0", "performance_schema": "off"}
	case v.Flavour == redis.Name:
		return map[string]string{"save": "3600,1,300,100,60,10000", "appendonly": "no", "appendfsync": "everysec"}
	case v.Flavour == postgres.Name && v.AtLeast(15):
		return map[string]string{"shared_buffers": "128M", "max_wal_size": "1024M", "wal_sync_method": "fdatasync"}
	}
	return nil
}

// emptyFile is an option file of a server without a setting.
func emptyFile(t *testing.T, f Found) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), strings.TrimPrefix(f.Service.Describe().Conf.Names[0], "*"))
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// The program says which options and words it does not take; it takes all others of the allow-list that it has.
func TestComplaints(t *testing.T) {
	for _, f := range programs(t) {
		name := f.Version.Product()
		for _, option := range map[string][]string{
			mysql.Family: {"--innodb-no-such=3", "--sql-mode=NO_SUCH"}, postgres.Name: {"--no_such=3", "--work_mem=3TB"}, redis.Name: {"--no-such=3", "--hz=much"},
		}[f.Service.Describe().Protocol] {
			complaints, err := f.Complaints(t.Context(), nil, []string{option})
			bare, _, _ := strings.Cut(strings.TrimPrefix(option, "--"), "=")
			if err != nil || len(complaints) != 1 || !strings.Contains(strings.ReplaceAll(complaints[0], "_", "-"), strings.ReplaceAll(bare, "_", "-")) {
				t.Errorf("%s: %s: %q, %v", name, option, complaints, err)
			}
		}
		if f.Service.Describe().Protocol != mysql.Family {
			continue
		}
		if complaints, err := f.Complaints(t.Context(), map[string]string{"flush_method": "NO_SUCH"}, nil); err != nil || len(complaints) == 0 {
			t.Errorf("%s: %q, %v", name, complaints, err)
		}
		detects := f.Version.Flavour != mysql.MariaDB && f.Version.AtLeast(8, 0, 30)
		if complaints, err := f.Complaints(t.Context(), map[string]string{"doublewrite": "detect_only"}, nil); err != nil || detects != (len(complaints) == 0) {
			t.Errorf("%s: %q, %v", name, complaints, err)
		}
	}
	for _, s := range databases.All() {
		if s.Describe().Own.Calls == nil && s.Describe().Name != "clickhouse" {
			t.Errorf("%s cannot be asked", s.Describe().Name)
		}
	}
}
