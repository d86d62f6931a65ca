// Package bodies lists the bodies of loads: the functions that do the work of a load in the process in
// an arm.
package bodies

import (
	"maps"

	"github.com/tarelab/tare/internal/loads/clickhouse"
	"github.com/tarelab/tare/internal/loads/fio"
	"github.com/tarelab/tare/internal/loads/load"
	"github.com/tarelab/tare/internal/loads/pgbench"
	"github.com/tarelab/tare/internal/loads/redis"
	"github.com/tarelab/tare/internal/loads/sysbench"
)

// all returns the bodies by kind: those of tare's own loads, and those that run a tool.
func all() map[string]load.Body {
	all := load.Bodies()
	for _, tool := range []map[string]load.Body{
		sysbench.Bodies(),
		pgbench.Bodies(),
		clickhouse.Bodies(),
		redis.Bodies(),
		fio.Bodies(),
	} {
		maps.Copy(all, tool)
	}
	return all
}

// Main runs the hidden command load.Command, which starts a load, and returns its exit code.
func Main(args []string) int { return load.Main(args, all()) }
