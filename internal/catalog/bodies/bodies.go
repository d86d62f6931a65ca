// Package bodies is the list of what a load can be in an arm.
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

// All are the bodies by kind: tare's own, and each tool's, one line each.
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
