package workload

import (
	"github.com/tarelab/tare/internal/db"
)

// What a server writes beside its data set, in bytes: the logs as they are
// configured, and what a run adds to the tables.
const tablesGrow = 128 << 20

// mysqlGrows is for the family of MySQL.
func mysqlGrows(v Values) int64 {
	n, _ := db.Size(v["redo_log"]) // was checked
	if v["binlog"] == "on" {
		n += 1 << 30
	}
	return n + tablesGrow
}

// postgresGrows is for PostgreSQL.
func postgresGrows(v Values) int64 {
	n, _ := db.Size(v["max_wal_size"]) // was checked
	return n + tablesGrow
}

// Memory is how many bytes a server with need bytes of data takes for its cache:
// as much of it as there is data, and for keeping book of all of it, which
// servers write when they start, a fiftieth (InnoDB: less than 2 % for pages of
// 16 KiB; PostgreSQL: about 1 % for pages of 8 KiB).
func (s Stages) Memory(need int64) int64 {
	return min(s.Cache, need) + s.Cache/50
}

// cache is the size that a setting says, which was checked.
func cache(v Values, setting string) int64 {
	n, _ := db.Size(v[setting])
	return n
}
