package workload

import (
	"github.com/tarelab/tare/internal/databases/db"
)

// What a server writes beside its data set, in bytes: the logs as they are
// configured, and what a run adds to the tables.
const tablesGrow = 128 << 20

// mysqlGrows is for the family of MySQL.
func mysqlGrows(v Values) int64 {
	n, _ := db.Size(v["redo_log"]) // was checked
	return n + tablesGrow
}

// How fast data grows is planned from above, in bytes a second while the load runs. How fast it
// does is only known then: the run watches the disk.
const (
	// binlogRate is of one thread that writes: about 1200 transactions of sysbench, of 1.7 KB
	// each in rows. mostBinlog is of all threads.
	binlogRate = 2 << 20
	mostBinlog = 64 << 20
	// tablesRate is of one client that writes: pgbench's history gets 50 B a transaction, and
	// rows that are updated leave old ones.
	tablesRate = 256 << 10
	// appendedRate is how many commands a second one connection of Redis sends, mostAppended
	// all of them.
	appendedRate = 10_000
	mostAppended = 500_000
	appendedMost = 512 << 20 // bytes of all commands together
)

// mysqlRate is for the family of MySQL.
func mysqlRate(v Values, threads int, writes bool) int64 {
	rate := int64(0)
	if writes {
		rate = tablesRate * int64(threads)
	}
	if writes && v["binlog"] == "on" {
		rate += min(int64(threads)*binlogRate, mostBinlog)
	}
	return rate
}

// postgresRate is for PostgreSQL, whose log has a size.
func postgresRate(clients int, writes bool) int64 {
	if !writes {
		return 0
	}
	return int64(clients) * tablesRate
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
