package workload

import (
	"fmt"

	"github.com/tarelab/tare/internal/loads/load"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/record"
)

// OLTP is SQLite under sysbench's OLTP transaction mix.
type OLTP struct{}

func (OLTP) Name() string { return "oltp" }

func (OLTP) Title() record.Said { return record.Say("load_oltp") }

// Params are the parameters. The default cache is SQLite's and smaller than the table, so most rows
// come from the kernel's page cache: a query makes about as many system calls as one of a database
// server makes for its socket. With the whole table in SQLite's cache a read would make no system
// call, and a container could not slow it down.
func (OLTP) Params() []Param {
	return []Param{
		Choice("mode", "read_only",
			"read_only: 10 point selects and 4 ranges of 100 rows in one transaction; read_write: also 2 updates, a delete and an insert", "read_only", "read_write"),
		{Name: "rows", Default: "50000", Check: Whole(1000, 10_000_000),
			Help: "rows of the table, about 200 bytes each"},
		{Name: "threads", Default: "2", Check: Whole(1, 256),
			Help: "connections, each with a thread; writing transactions run one after the other, for SQLite has one writer at a time"},
		{Name: "cache", Default: "2MiB", Check: Size(64<<10, 16<<30),
			Help: "page cache of the engine, per connection; what does not fit is read from the kernel's"},
		Choice("sync", "full",
			"full: a transaction is on the disk when it is done, as with InnoDB and PostgreSQL by default; normal: after the next checkpoint; off: whenever", "off", "normal", "full"),
		Choice("rand", "uniform",
			"how rows are picked: all alike, or as sysbench's special, three quarters of them from 1 % of the table", "uniform", "special"),
		{Name: "seed", Default: "1", Check: seed,
			Help: "seed of the data set and of the picks"},
	}
}

func (OLTP) Stages(v Values) (Stages, error) {
	r := Reader{Values: v}
	p := load.OLTP{
		Rows: r.Whole("rows"), Seed: r.seed("seed"), Write: v["mode"] == "read_write",
		CacheBytes: r.Size("cache"), Sync: v["sync"], Special: v["rand"] == "special",
	}
	threads := r.Whole("threads")
	if r.Err != nil {
		return Stages{}, fmt.Errorf("oltp: %w", r.Err)
	}
	return Stages{
		Threads: threads,
		Key:     fmt.Sprintf("oltp-v%d-rows%d-seed%d", load.OLTPSchema, p.Rows, p.Seed),
		Prepare: func(dir string) Task {
			return LoadTask(load.KindOLTPPrepare, load.OLTP{Dir: dir, Rows: p.Rows, Seed: p.Seed})
		},
		Load: func(at wire.Place) Task {
			here := p
			here.Dir = at.Volume
			return LoadTask(load.KindOLTP, here)
		},
		Disk:    p.Write && p.Sync != "off",
		Metrics: ClosedLoop(),
	}, nil
}
