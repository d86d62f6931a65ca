package importer

import (
	"bytes"

	"github.com/tarelab/tare/internal/format"
	"github.com/tarelab/tare/internal/format/observed"
	"github.com/tarelab/tare/internal/tool/clickhouse"
	"github.com/tarelab/tare/internal/tool/csv"
	"github.com/tarelab/tare/internal/tool/fio"
	"github.com/tarelab/tare/internal/tool/hyperfine"
	"github.com/tarelab/tare/internal/tool/pgbench"
	"github.com/tarelab/tare/internal/tool/redis"
	"github.com/tarelab/tare/internal/tool/sysbench"
)

// formats are the kinds of logs that are read, each by the folder of its tool. A
// kind may have several readers: the first whose first line it is takes the file.
var formats = []struct {
	kind  format.Kind
	first string // what the first line begins with; empty: any
	read  observed.Reader
}{
	{format.SysbenchLog, "", sysbench.Import},
	{format.FioOutput, "", fio.Import},
	{format.FioLog, "", fio.LogReader(0)},
	{format.FioLog2, "", fio.LogReader(2)},
	{format.FioLog3, "", fio.LogReader(3)},
	{format.ClickHouseLog, "", clickhouse.Import},
	{format.PgBenchOutput, "", pgbench.Import},
	{format.PgBenchLog, "", pgbench.ImportLog},
	{format.PgBenchAgg, "", pgbench.ImportAggregate},
	{format.HyperfineJSON, "", hyperfine.Import},
	{format.RedisLog, "", redis.Import},
	{format.CSV, "command,mean,", hyperfine.ImportCSV},
	{format.CSV, "", csv.Import},
}

// readerOf is the reader of a file of a kind that begins so; nil for none.
func readerOf(kind format.Kind, head []byte) observed.Reader {
	for _, f := range formats {
		if f.kind == kind && bytes.HasPrefix(head, []byte(f.first)) {
			return f.read
		}
	}
	return nil
}

// Kinds are the names that Options.Kind can have.
func Kinds() (out []string) {
	for _, f := range formats {
		if f.first == "" {
			out = append(out, string(f.kind))
		}
	}
	return out
}
