package storage

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/proc"
)

// mark are names that together prove that a directory holds the data of a server. A name that ends in /
// is a directory, one with * a pattern.
type mark struct {
	server string
	names  []string
	// here marks prove nothing about directories below: people keep such files among others.
	here bool
}

func marks() []mark {
	const mysql, redis, rocks = "MySQL or MariaDB", "Redis or Valkey", "RocksDB or LevelDB"
	return []mark{
		{server: mysql, names: []string{"ibdata1", "mysql/"}}, {server: mysql, names: []string{"ibdata1", "ib_logfile0"}}, {server: mysql, names: []string{"ibdata1", "#innodb_redo/"}},
		{server: mysql, names: []string{"mysql.ibd"}}, {server: mysql, names: []string{"aria_log_control"}}, {server: mysql, names: []string{"ib_logfile0"}}, {server: mysql, names: []string{"#innodb_redo/"}},
		{server: mysql, names: []string{"ibdata1"}, here: true}, {server: mysql, names: []string{"mysql/", "performance_schema/"}},
		{server: "PostgreSQL", names: []string{"PG_VERSION", "base/"}}, {server: "PostgreSQL", names: []string{"PG_VERSION", "global/"}}, {server: "PostgreSQL", names: []string{"pg_wal/", "pg_xact/"}},
		{server: "PostgreSQL", names: []string{"PG_[0-9]*_[0-9]*/"}}, {server: "PostgreSQL", names: []string{"archive_status/", "????????????????????????"}}, {server: "PostgreSQL", names: []string{"PG_VERSION"}, here: true},
		{server: "ClickHouse", names: []string{"store/", "metadata/"}}, {server: "ClickHouse", names: []string{"data/", "metadata/", "metadata_dropped/"}}, {server: "ClickHouse Keeper", names: []string{"coordination/", "log/"}},
		{server: "MongoDB", names: []string{"WiredTiger"}}, {server: "MongoDB", names: []string{"WiredTiger.wt"}}, {server: "MongoDB", names: []string{"WiredTiger.lock"}}, {server: "MongoDB", names: []string{"storage.bson"}},
		{server: redis, names: []string{"appendonlydir/"}}, {server: redis, names: []string{"appendonly.aof"}}, {server: redis, names: []string{"*.rdb"}, here: true},
		{server: "etcd", names: []string{"member/", "member/snap/", "member/wal/"}}, {server: "etcd", names: []string{"snap/", "wal/", "snap/db"}},
		{server: rocks, names: []string{"CURRENT", "MANIFEST-*"}},
		{server: "Cassandra", names: []string{"commitlog/", "saved_caches/"}}, {server: "Elasticsearch or OpenSearch", names: []string{"node.lock"}}, {server: "Kafka", names: []string{"meta.properties"}},
		{server: "Prometheus", names: []string{"chunks_head/", "wal/"}},
	}
}

// has says whether a directory has all names of a mark.
func (m mark) has(dir string) bool {
	for _, name := range m.names {
		path, wantDir := filepath.Join(dir, name), strings.HasSuffix(name, "/")
		found := []string{path}
		if strings.ContainsAny(name, "*?[") {
			found, _ = filepath.Glob(filepath.Join(quoted(dir), name))
		}
		ok := false
		for _, f := range found {
			st, err := os.Stat(f)
			ok = ok || err == nil && st.IsDir() == wantDir
		}
		if !ok {
			return false
		}
	}
	return true
}

// quoted is a path in which no character is special in a pattern.
func quoted(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// LiveData returns an error if a directory holds the data of a server, or is in such a directory: by its
// path without symbolic links, or by a bind mount. A server takes what tare makes there for its own. The
// directory itself may be missing; root is "/" outside tests.
func LiveData(root proc.FS, dir string) error {
	_, err := Answered(dir, func() (struct{}, error) { return struct{}{}, liveData(root, dir) })
	return err
}

func liveData(root proc.FS, dir string) error {
	real, err := existing(dir)
	if err != nil {
		return nil // who makes a directory there says why it cannot
	}
	public := false
	if st, err := os.Stat(real); err == nil {
		public = st.Mode()&os.ModeSticky != 0 // /tmp is no server's, whatever lies there
	}
	for _, path := range append([]string{real}, boundFrom(root, real)...) {
		for at := path; ; at = filepath.Dir(at) {
			for _, m := range marks() {
				if (!m.here || at == real && !public) && m.has(at) {
					return hint.New(fmt.Errorf("%s is in the data directory %s of %s (it has %s), and the server takes what is made there for its own",
						dir, at, m.server, strings.Join(m.names, ", ")), elsewhere(at))
				}
			}
			if at == "/" || at == "." {
				break
			}
		}
	}
	return nil
}

// existing is the path without links of a directory, or of the nearest above it that exists.
func existing(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for {
		real, err := filepath.EvalSymlinks(abs)
		if err == nil || abs == "/" || !os.IsNotExist(err) {
			return real, err
		}
		abs = filepath.Dir(abs)
	}
}

// boundFrom are other paths of a directory: its file system is mounted there too, with a root above it.
func boundFrom(root proc.FS, dir string) (paths []string) {
	mounts, err := root.Mounts()
	if err != nil {
		return nil
	}
	on := proc.MountOf(mounts, dir)
	if on == nil {
		return nil
	}
	within := filepath.Join(on.Root, strings.TrimPrefix(dir, strings.TrimSuffix(on.Point, "/")))
	for _, m := range mounts {
		rest, below := strings.CutPrefix(within, strings.TrimSuffix(m.Root, "/"))
		if m.Major == on.Major && m.Minor == on.Minor && m.Point != on.Point && below && (rest == "" || rest[0] == '/') {
			paths = append(paths, filepath.Join(m.Point, rest))
		}
	}
	return paths
}

// elsewhere proposes a directory on the file system of a data directory.
func elsewhere(data string) string {
	var of, above unix.Stat_t
	parent := filepath.Dir(data)
	if unix.Stat(data, &of) == nil && unix.Stat(parent, &above) == nil && of.Dev == above.Dev {
		at := filepath.Join(parent, "tare")
		return "name another directory on the same file system: mkdir " + at + ", and name that"
	}
	return "name a directory on another file system of the same disk: nothing on this one is outside of the data directory"
}
