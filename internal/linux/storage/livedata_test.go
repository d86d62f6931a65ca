package storage

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/proc"
)

// data makes a directory with files, and directories whose names end in /.
func data(t *testing.T, names ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "srv", "data")
	for _, n := range append(names, "below/deeper/") {
		path := filepath.Join(dir, n)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if strings.HasSuffix(n, "/") {
			err = errors.Join(err, os.MkdirAll(path, 0o755))
		} else {
			err = errors.Join(err, os.WriteFile(path, []byte("x"), 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The data directory of a server is found by its files, itself, from below, through a link, and for a
// directory that is not there yet.
func TestLiveData(t *testing.T) {
	for server, names := range map[string][]string{
		"MySQL or MariaDB":            {"ibdata1", "mysql/", "shop/"},
		"PostgreSQL":                  {"PG_VERSION", "base/", "global/"},
		"ClickHouse":                  {"store/", "metadata/"},
		"MongoDB":                     {"WiredTiger", "WiredTiger.wt", "journal/"},
		"Redis or Valkey":             {"appendonlydir/"},
		"etcd":                        {"member/snap/", "member/wal/"},
		"RocksDB or LevelDB":          {"CURRENT", "MANIFEST-000004", "000003.log"},
		"Elasticsearch or OpenSearch": {"node.lock", "indices/"},
		"Kafka":                       {"meta.properties"},
		"Prometheus":                  {"chunks_head/", "wal/"},
		"Cassandra":                   {"commitlog/", "saved_caches/", "data/"},
	} {
		dir := data(t, names...)
		link, within := filepath.Join(t.TempDir(), "link"), filepath.Join(t.TempDir(), "within")
		if err := errors.Join(os.Symlink(dir, link), os.Symlink(filepath.Join(dir, "below"), within)); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{dir, dir + "/", filepath.Join(dir, "below"), filepath.Join(dir, "below/deeper"), filepath.Join(dir, "new/result"), link, within, filepath.Join(link, "below"), filepath.Join(within, "new")} {
			err := LiveData("/", path)
			if err == nil || !strings.Contains(err.Error(), server) || !strings.Contains(err.Error(), dir) || hint.Of(err) != "name another directory on the same file system: mkdir "+filepath.Join(filepath.Dir(dir), "tare")+", and name that" {
				t.Errorf("%s: %v, hint %q", path, err, hint.Of(err))
			}
		}
		if err := LiveData("/", filepath.Dir(dir)); err != nil {
			t.Errorf("beside the data: %v", err)
		}
	}
}

// Variants, and what proves nothing.
func TestWhatProvesLiveData(t *testing.T) {
	for _, c := range []struct {
		names         []string
		here, inBelow bool
	}{
		{[]string{"dump.rdb"}, true, false}, {[]string{"appendonly.aof"}, true, true}, {[]string{"aria_log_control"}, true, true}, {[]string{"mysql.ibd", "undo_001"}, true, true}, {[]string{"ib_logfile0"}, true, true},
		{[]string{"#innodb_redo/"}, true, true}, {[]string{"PG_15_202209061/"}, true, true}, {[]string{"archive_status/", "000000010000000000000001"}, true, true}, {[]string{"snap/db", "wal/"}, true, true}, {[]string{"PG_VERSION"}, true, false},
		{[]string{"WiredTiger.lock"}, true, true}, {[]string{"ibdata1"}, true, false},
		{[]string{"mysql/"}, false, false}, {[]string{"base/"}, false, false}, {[]string{"metadata/"}, false, false}, {[]string{"store/", "data/"}, false, false}, {[]string{"CURRENT"}, false, false}, {[]string{"PG_VERSION/", "base"}, false, false}, {nil, false, false},
	} {
		dir := data(t, c.names...)
		if err := LiveData("/", dir); (err != nil) != c.here {
			t.Errorf("%q: %v", c.names, err)
		}
		if err := LiveData("/", filepath.Join(dir, "below")); (err != nil) != c.inBelow {
			t.Errorf("below %q: %v", c.names, err)
		}
	}
}

// A directory below a data directory that is bound elsewhere is found by the other mount.
func TestBoundLiveData(t *testing.T) {
	dir, bound := data(t, "PG_VERSION", "base/", "base/5/"), t.TempDir()
	root := tree(t, "27 1 8:1 / / rw - ext4 /dev/sda1 rw\n28 27 8:1 "+dir+"/base/5 "+bound+" rw - ext4 /dev/sda1 rw\n29 27 8:2 / /other rw - ext4 /dev/sda2 rw\n", nil, nil)
	if err := LiveData(root, bound); err == nil || !strings.Contains(err.Error(), dir) {
		t.Error(err)
	}
	if err := LiveData(root, t.TempDir()); err != nil {
		t.Error(err)
	}
	if err := LiveData(proc.FS(t.TempDir()), t.TempDir()); err != nil {
		t.Error(err)
	}
}
