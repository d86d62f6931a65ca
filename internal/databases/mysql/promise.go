package mysql

import (
	"strings"

	"github.com/tarelab/tare/internal/databases/db"
)

const everyCommit = "every commit"

// Promises are the settings that decide what a commit survives.
func (Service) Promises() []db.Promise {
	return []db.Promise{
		{Name: "innodb_flush_log_at_trx_commit", Means: db.Verbatim},
		{Name: "innodb_flush_method", Means: flushes},
		{Name: "innodb_doublewrite", Means: doublewrite},
		{Name: "innodb_data_file_buffering", Means: db.OnOff}, // these four: MariaDB from 11.0 on
		{Name: "innodb_data_file_write_through", Means: db.OnOff},
		{Name: "innodb_log_file_buffering", Means: db.OnOff},
		{Name: "innodb_log_file_write_through", Means: db.OnOff},
		{Name: "sync_binlog", Means: func(v string, all map[string]string) string {
			if db.OnOff(strings.ToLower(all["log_bin"]), all) == "off" {
				return everyCommit // without a binary log
			}
			if v == "1" {
				return everyCommit
			}
			return v
		}},
	}
}

// doublewrite is whether torn pages are repaired. detect_only finds them and repairs none.
func doublewrite(v string, all map[string]string) string {
	if v == "detect_and_recover" {
		return "on"
	}
	return db.OnOff(v, all)
}

// flushes is which files are flushed with a value of innodb_flush_method, by the manuals of MySQL
// and MariaDB.
func flushes(method string, _ map[string]string) string {
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
