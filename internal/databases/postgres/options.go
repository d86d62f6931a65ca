package postgres

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tarelab/tare/internal/databases/db"
)

// Names of the settings, which are PostgreSQL's.
const (
	setFsync      = "fsync"
	setSyncCommit = "synchronous_commit"
	setFullPages  = "full_page_writes"
	setWALSync    = "wal_sync_method"
	setBuffers    = "shared_buffers"
	setMaxWAL     = "max_wal_size"
	setAutovacuum = "autovacuum"
)

func settings() []db.Setting {
	onOff := []string{"on", "off"}
	commits := []string{"on", "off", "local", "remote_write", "remote_apply"}
	methods := []string{"fdatasync", "fsync", "open_datasync", "open_sync", db.Leave}
	return []db.Setting{
		{Name: setBuffers, Default: "128M", Help: "shared_buffers", Check: db.SizeFrom(1 << 20)},
		{Name: setFsync, Default: "on", Help: "fsync: off loses the whole database in a crash", Words: onOff},
		{Name: setSyncCommit, Default: "on", Help: "synchronous_commit: on makes every commit durable",
			Words: commits, Check: db.AnyWord(commits...), Open: true},
		{Name: setFullPages, Default: "on", Help: "full_page_writes: protects pages against torn writes", Words: onOff},
		{Name: setWALSync, Default: "fdatasync", Help: "wal_sync_method",
			Words: methods, Check: db.AnyWord(methods...), Open: true},
		{Name: setMaxWAL, Default: "1G", Help: "max_wal_size: log between two checkpoints, about", Check: db.SizeFrom(32 * db.MiB)},
		{Name: setAutovacuum, Default: "on", Help: "autovacuum", Words: onOff},
	}
}

// options are the settings as options of the server, after options that no experiment can set: no
// checkpoints by time, because the clock runs on while an arm is frozen; no huge pages, which not
// all arms would get; no restart after a crash of one process; and shared memory in the data
// directory, which goes with the arm.
func options(v db.Version, c db.Config) ([]string, error) {
	args := []string{
		set("checkpoint_timeout", "1d"),
		set("huge_pages", "off"),
		set("restart_after_crash", "off"),
		set("dynamic_shared_memory_type", "mmap"),
		set("max_connections", strconv.Itoa(max(100, c.Connections+20))),
		set("lc_messages", "C"),
	}
	for _, name := range []string{setBuffers, setMaxWAL} {
		n, err := db.Size(c.Settings[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		unit, suffix := int64(1024), "kB"
		if name == setMaxWAL {
			unit, suffix = db.MiB, "MB"
		}
		args = append(args, set(name, strconv.FormatInt(n/unit, 10)+suffix))
	}
	for _, name := range []string{setFsync, setSyncCommit, setFullPages, setWALSync, setAutovacuum} {
		if value := c.Settings[name]; value != db.Leave {
			args = append(args, set(name, value))
		}
	}
	return args, nil
}

// readBack are the variables of the settings, and further ones for the report.
func readBack(v db.Version, c db.Config) []db.Query {
	s := c.Settings
	var list []db.Query
	ask := func(name string) {
		wanted := s[name]
		list = append(list, db.Query{
			Name: name, Ask: "SELECT current_setting('" + name + "')", Wanted: wanted,
			Accepts: func(got string) bool { return wanted == db.Leave || strings.EqualFold(got, wanted) },
		})
	}
	list = append(list, db.Query{Name: "server_version", Ask: "SELECT current_setting('server_version')", Wanted: v.Text,
		Accepts: func(got string) bool { return got == v.Text }})
	for _, x := range settings() {
		if !slices.Contains([]string{setBuffers, setMaxWAL}, x.Name) {
			ask(x.Name)
			continue
		}
		list = append(list, db.Query{Name: x.Name, Ask: "SELECT pg_size_bytes(current_setting('" + x.Name + "'))", Wanted: s[x.Name], Accepts: db.AtLeast(s[x.Name])})
	}
	// A version may lack some of these.
	for _, name := range []string{"data_checksums", "wal_level", "block_size", "jit", "io_method", "checkpoint_completion_target", "max_connections", "default_transaction_isolation"} {
		list = append(list, db.Query{Name: name, Ask: "SELECT setting FROM pg_settings WHERE name = '" + name + "'"})
	}
	return list
}
