package workload

import "github.com/tarelab/tare/internal/service"

// What a server writes beside its data set, in bytes: the logs as they are
// configured, and what a run adds to the tables.
const tablesGrow = 128 << 20

// mysqlGrows is for the family of MySQL.
func mysqlGrows(v Values) int64 {
	n, _ := service.Size(v["redo_log"]) // was checked
	if v["binlog"] == "on" {
		n += 1 << 30
	}
	return n + tablesGrow
}

// postgresGrows is for PostgreSQL.
func postgresGrows(v Values) int64 {
	n, _ := service.Size(v["max_wal_size"]) // was checked
	return n + tablesGrow
}
