package service

import (
	"fmt"
	"strconv"
	"strings"
)

// The settings, in ClickHouse's own words.
const (
	setMaxThreads = "max_threads"
	setMaxMemory  = "max_memory_usage"
	setMaxBlock   = "max_block_size"
	setUsePlain   = "use_uncompressed_cache"
	setPlainCache = "uncompressed_cache_size"
	setMarkCache  = "mark_cache_size"
)

func clickhouseSettings() []Setting {
	return []Setting{
		{Name: setMaxThreads, Default: leave, Check: orLeave(wholeFrom(1, 1024)),
			Help: "max_threads of a query; default: what the server finds, the CPUs that it may use"},
		{Name: setMaxMemory, Default: "10G", Help: "max_memory_usage of a query; 0: no limit", Check: sizeFrom(0)},
		{Name: setMaxBlock, Default: leave, Help: "max_block_size: rows that are worked on at once", Check: orLeave(wholeFrom(1, 1<<30))},
		{Name: setUsePlain, Default: "off", Help: "use_uncompressed_cache: keeps blocks unpacked in memory", Words: []string{"off", "on"}},
		{Name: setPlainCache, Default: "8G", Help: "uncompressed_cache_size, where it is used; read back from 23.3 on", Check: sizeFrom(0)},
		{Name: setMarkCache, Default: "5G", Help: "mark_cache_size; read back from 23.3 on", Check: sizeFrom(mebi)},
	}
}

// orLeave allows the word for: as the server has it.
func orLeave(check func(string) error) func(string) error {
	return func(s string) error {
		if s == leave {
			return nil
		}
		if err := check(s); err != nil {
			return fmt.Errorf("%w, or %s", err, leave)
		}
		return nil
	}
}

// clickhouseValue is a setting in the server's words, and whether it is one of
// queries (else of the server).
func clickhouseValue(name, value string) (out string, query bool, err error) {
	switch name {
	case setUsePlain:
		return map[string]string{"off": "0", "on": "1"}[value], true, nil
	case setMaxMemory, setPlainCache, setMarkCache:
		n, err := Size(value)
		if err != nil {
			return "", false, fmt.Errorf("%s: %w", name, err)
		}
		return strconv.FormatInt(n, 10), name == setMaxMemory, nil
	}
	return value, true, nil
}

// clickhouseReadBack are the settings as the server has them. What is not asked
// for by name is still read: a report can say what it was.
func clickhouseReadBack(v Version, c Config) []Query {
	list := []Query{{
		Name: "version", SQL: "SELECT version()", Wanted: v.Text,
		// It may have fewer parts than what the program prints.
		Took: func(got string) bool {
			return strings.HasPrefix(v.Text+".", got+".") || strings.HasPrefix(got+".", v.Text+".")
		},
	}}
	for _, s := range clickhouseSettings() {
		wanted, query, err := clickhouseValue(s.Name, c.Settings[s.Name])
		if err != nil || !query && !v.AtLeast(23, 3) {
			continue // the table of the server's settings came with 23.3
		}
		table := "system.settings"
		if !query {
			table = "system.server_settings"
		}
		q := Query{Name: s.Name, SQL: clickhouseAsk(table, s.Name)}
		if wanted != leave {
			q.Wanted, q.Took = wanted, func(got string) bool { return got == wanted }
		}
		list = append(list, q)
	}
	// Not all of these are in every version.
	for _, name := range []string{"load_balancing", "compile", "compile_expressions", "max_bytes_before_external_group_by", "use_query_cache", "use_query_condition_cache"} {
		list = append(list, Query{Name: name, SQL: clickhouseAsk("system.settings", name)})
	}
	return append(list, Query{Name: "build", SQL: "SELECT value FROM system.build_options WHERE name = 'BUILD_TYPE'"})
}

func clickhouseAsk(table, name string) string {
	return "SELECT value FROM " + table + " WHERE name = '" + name + "'"
}
