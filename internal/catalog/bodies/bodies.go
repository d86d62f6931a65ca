// Package bodies lists the functions that are a load, in the process that runs in an arm.
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

// All returns the bodies by the kind of load: tare's own, and those of each tool.
func All() map[string]load.Body {
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

// Main is the hidden command load.Command.
func Main(args []string) int { return load.Main(args, All()) }
