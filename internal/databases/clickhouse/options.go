package clickhouse

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tarelab/tare/internal/databases/db"
)

// Names of the settings, which are ClickHouse's.
const (
	setMaxThreads = "max_threads"
	setMaxMemory  = "max_memory_usage"
	setMaxBlock   = "max_block_size"
	setUsePlain   = "use_uncompressed_cache"
	setPlainCache = "uncompressed_cache_size"
	setMarkCache  = "mark_cache_size"
)

func settings() []db.Setting {
	return []db.Setting{
		{Name: setMaxThreads, Default: db.Leave, Check: db.OrLeave(db.WholeFrom(1, 1024)),
			Help: "max_threads of a query; default: what the server finds, the CPUs that it may use"},
		{Name: setMaxMemory, Default: "10G", Help: "max_memory_usage of a query; 0: no limit", Check: db.OrLeave(db.SizeFrom(0))},
		{Name: setMaxBlock, Default: db.Leave, Help: "max_block_size: rows that are worked on at once", Check: db.OrLeave(db.WholeFrom(1, 1<<30))},
		{Name: setUsePlain, Default: "off", Help: "use_uncompressed_cache: keeps blocks unpacked in memory", Words: []string{"off", "on", db.Leave}},
		{Name: setPlainCache, Default: "8G", Help: "uncompressed_cache_size, where it is used; read back from 23.3 on", Check: db.OrLeave(db.SizeFrom(0))},
		{Name: setMarkCache, Default: "5G", Help: "mark_cache_size; read back from 23.3 on", Check: db.OrLeave(db.SizeFrom(db.MiB))},
	}
}

// value is the value of a setting for the configuration; query is true for a setting of queries and
// false for one of the server.
func value(name, value string) (out string, query bool, err error) {
	ofServer := name == setPlainCache || name == setMarkCache
	switch name {
	case setUsePlain:
		if value != db.Leave {
			value = map[string]string{"off": "0", "on": "1"}[value]
		}
	case setMaxMemory, setPlainCache, setMarkCache:
		if value == db.Leave {
			break
		}
		n, err := db.Size(value)
		if err != nil {
			return "", false, fmt.Errorf("%s: %w", name, err)
		}
		value = strconv.FormatInt(n, 10)
	}
	return value, !ofServer, nil
}

// readBack are the settings, and further ones for the report.
func readBack(v db.Version, c db.Config) []db.Query {
	list := []db.Query{{
		Name: "version", Ask: "SELECT version()", Wanted: v.Text,
		// version() may have fewer parts than what the program prints.
		Accepts: func(got string) bool {
			return strings.HasPrefix(v.Text+".", got+".") || strings.HasPrefix(got+".", v.Text+".")
		},
	}}
	for _, s := range settings() {
		wanted, query, err := value(s.Name, c.Settings[s.Name])
		if err != nil || !query && !v.AtLeast(23, 3) {
			continue // system.server_settings exists from 23.3 on
		}
		table := "system.settings"
		if !query {
			table = "system.server_settings"
		}
		q := db.Query{Name: s.Name, Ask: ask(table, s.Name)}
		if wanted != db.Leave {
			q.Wanted, q.Accepts = wanted, func(got string) bool { return got == wanted }
		}
		list = append(list, q)
	}
	// A version may lack some of these.
	for _, name := range []string{"load_balancing", "compile", "compile_expressions", "max_bytes_before_external_group_by", "use_query_cache", "use_query_condition_cache"} {
		list = append(list, db.Query{Name: name, Ask: ask("system.settings", name)})
	}
	return append(list, db.Query{Name: "build", Ask: "SELECT value FROM system.build_options WHERE name = 'BUILD_TYPE'"})
}

func ask(table, name string) string {
	return "SELECT value FROM " + table + " WHERE name = '" + name + "'"
}

// Promises is empty: none of tare's settings decides what an insert survives.
func (Service) Promises() []db.Promise { return nil }
