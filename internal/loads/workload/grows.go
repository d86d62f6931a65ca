package workload

import "github.com/tarelab/tare/internal/databases/db"

const (
	// TablesGrow is how many bytes a run adds to the tables of a database at most, beside its logs.
	TablesGrow = 128 << 20
	// TablesRate is how many bytes a second the tables grow by for each client that writes: an
	// upper bound by which disk space is planned. pgbench's history takes 50 B for each
	// transaction, and an updated row leaves an old version behind.
	TablesRate int64 = 256 << 10
)

// Memory is how many bytes a server's cache takes with need bytes of data. The pages fill as far
// as there is data. The list of all pages, a fiftieth of the cache, is written at the start
// (InnoDB: less than 2 % for pages of 16 KiB; PostgreSQL: about 1 % for pages of 8 KiB).
func (s Stages) Memory(need int64) int64 {
	return min(s.Cache, need) + s.Cache/50
}

// Bytes is the size that a setting of a server has; the setting was checked.
func Bytes(v Values, setting string) int64 {
	n, _ := db.Size(v[setting])
	return n
}
