package serve

import (
	"context"
	"fmt"

	"github.com/tarelab/tare/internal/databases/clickhouse"
	"github.com/tarelab/tare/internal/databases/postgres"
	"github.com/tarelab/tare/internal/logs/sysbench"
)

// filler fills an empty server.
type filler interface {
	// params are the parameters of the data set, a part of its key in the cache.
	params() map[string]string
	// tool is the program that fills it; "" if there is none.
	tool() (name, version string)
	// size is an upper estimate of the data set's size in bytes.
	size() int64
	// connections is the number of concurrent connections.
	connections() int
	fill(ctx context.Context, b *building) error
}

func (p Prepare) filler(ctx context.Context, f Found) (filler, error) {
	switch protocol := f.Service.Describe().Protocol; {
	case p.Dump != "":
		return p.dumpFiller(f)
	case p.Pgbench != nil && protocol != postgres.Name:
		return nil, fmt.Errorf("pgbench fills PostgreSQL, not %s", f.Name())
	case p.Pgbench != nil:
		return p.pgbenchFiller(ctx, f)
	case p.Hits != nil && protocol != clickhouse.Name:
		return nil, fmt.Errorf("ClickHouse's table is nothing for %s", f.Name())
	case p.Hits != nil:
		return hitsFiller{*p.Hits}, nil
	case p.Sysbench.Script != "" && protocol != autoProtocol:
		return nil, fmt.Errorf("%s prepares data for the MySQL family, not for %s", sysbench.Program, f.Name())
	case p.Sysbench.Script != "":
		return p.sysbenchFiller(ctx)
	}
	return emptyFiller{}, nil
}

// emptyFiller leaves the server empty.
type emptyFiller struct{}

func (emptyFiller) params() map[string]string { return map[string]string{"load": "statements"} }

func (emptyFiller) tool() (name, version string) { return "", "" }

func (emptyFiller) size() int64 { return 0 }

func (emptyFiller) connections() int { return 1 }

func (emptyFiller) fill(context.Context, *building) error { return nil }
