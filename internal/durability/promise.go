package durability

import (
	"strings"

	"github.com/tarelab/tare/record"
)

// promise is a setting with what it means for a commit. Settings that mean the
// same are equal, whatever their words.
type promise struct{ name, value, means string }

// promises are the settings that decide what a commit survives, as the server
// said them.
func promises(settings []record.Setting) []promise {
	got := map[string]string{}
	for _, s := range settings {
		got[s.Name] = s.Got
	}
	var out []promise
	for _, k := range known() {
		if v, ok := got[k.name]; ok {
			out = append(out, promise{k.name, v, k.means(strings.ToLower(v), got)})
		}
	}
	return out
}

// known are the settings of MariaDB, MySQL and Percona Server, then those of
// PostgreSQL and of Redis, then parameters of loads that sync themselves.
func known() []struct {
	name  string
	means func(value string, all map[string]string) string
} {
	type all = map[string]string
	switched := func(v string, _ all) string {
		switch v {
		case "1", "on", "yes", "true":
			return "on"
		case "0", "off", "no", "false":
			return "off"
		}
		return v
	}
	itself := func(v string, _ all) string { return v }
	return []struct {
		name  string
		means func(string, all) string
	}{
		{"innodb_flush_log_at_trx_commit", itself},
		{"innodb_flush_method", func(v string, _ all) string { return flushes(v) }},
		{"innodb_doublewrite", switched},
		{"sync_binlog", func(v string, a all) string {
			if switched(strings.ToLower(a["log_bin"]), a) == "off" {
				return "every commit" // there is no log that could be behind
			}
			if v == "1" {
				return "every commit"
			}
			return v
		}},
		{"fsync", switched},
		{"full_page_writes", switched},
		{"synchronous_commit", func(v string, _ all) string {
			if v == "off" {
				return v
			}
			return "every commit" // the others differ only with standby servers
		}},
		{"appendonly", switched},
		{"appendfsync", func(v string, a all) string {
			if switched(strings.ToLower(a["appendonly"]), a) == "off" {
				return "no log"
			}
			return v
		}},
		{"save", itself},
		{"param.sync", itself},
		{"param.fsync", itself},
	}
}

// flushes says which files innodb_flush_method has flushed: see the manuals of
// MySQL and MariaDB.
func flushes(method string) string {
	switch method {
	case "o_direct_no_fsync":
		return "log"
	case "littlesync":
		return "little"
	case "nosync":
		return "nothing"
	}
	return "log and data"
}
