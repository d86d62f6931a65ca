package clickhouse

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/databases/clickhouse"
	"github.com/tarelab/tare/internal/databases/serve"
	"github.com/tarelab/tare/internal/loads/load"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/record"
)

// Workload sends queries to ClickHouse as clickhouse-benchmark does, but over HTTP, with one
// persistent connection for each client. clickhouse-benchmark is not in every package and does not
// count by windows.
type Workload struct{}

func (Workload) Name() string { return "clickhouse" }

func (Workload) Title() record.Said { return record.Say("load_clickhouse") }

// Names of lists of queries.
const (
	hitsQueries    = "hits"
	numbersQueries = "numbers"
)

// clickhouseQueries are the lists: aggregations over the table clickhouse.Hits, and the query of the
// published study of ClickHouse beside batch jobs.
var clickhouseQueries = map[string][]string{
	hitsQueries: {
		"SELECT count() FROM hits WHERE AdvEngineID != 0",
		"SELECT RegionID, count() AS c, sum(AdvEngineID), avg(Width), uniq(UserID) FROM hits GROUP BY RegionID ORDER BY c DESC LIMIT 10",
		"SELECT SearchPhrase, count() AS c FROM hits WHERE SearchPhrase != '' GROUP BY SearchPhrase ORDER BY c DESC LIMIT 10",
		"SELECT EventDate, count(), quantile(0.9)(Duration) FROM hits GROUP BY EventDate ORDER BY EventDate",
		"SELECT count() FROM hits WHERE URL LIKE '%/7/page%'",
		"SELECT uniq(UserID), max(EventTime) FROM hits WHERE CounterID = 30",
	},
	numbersQueries: {"SELECT * FROM system.numbers LIMIT 10000000 OFFSET 10000000"},
}

// Params are the parameters of the load, then the settings of the server.
func (Workload) Params() []workload.Param {
	params := []workload.Param{
		workload.ServerParam(", clickhouse-server or clickhouse; auto: in PATH"),
		{Name: "concurrency", Default: "2", Check: workload.Whole(1, 4096),
			Help: "clients, each with a connection and one query at a time, like -c of clickhouse-benchmark"},
		{Name: "queries", Default: hitsQueries, Check: queries, Text: true,
			Help: "hits or numbers, lists by name; or a query; more with \"; \" between, or the absolute path of a file with one a line"},
		{Name: "rows", Default: "300000", Check: workload.Whole(1, 1_000_000_000),
			Help: "rows of the table sbtest.hits, about 75 bytes each"},
		workload.ClientParam("the clients run"),
		workload.ServerOptions(clickhouse.Service{}),
	}
	return append(params, workload.SettingParams(clickhouse.Service{})...)
}

// queries allows the name of a list, an absolute path, or queries.
func queries(s string) error {
	switch {
	case strings.ContainsAny(s, "\n\r\x00"):
		return fmt.Errorf("%q: want one line", s)
	case clickhouseQueries[s] != nil, filepath.IsAbs(s):
		return nil
	case !strings.Contains(strings.TrimSpace(s), " "):
		return fmt.Errorf("%q is neither a query, nor an absolute path, nor one of %s, %s", s, hitsQueries, numbersQueries)
	}
	if len(inlineQueries(s)) == 0 {
		return fmt.Errorf("%q holds no query", s)
	}
	return nil
}

// inlineQueries splits queries at "; ": a semicolon inside a query rarely has a space behind it.
func inlineQueries(s string) []string { return QueryLines(strings.ReplaceAll(s, "; ", "\n")) }

func (Workload) Stages(v workload.Values) (workload.Stages, error) {
	r := workload.Reader{Values: v}
	clients, hits := r.Whole("concurrency"), clickhouse.Hits{Rows: r.Whole("rows")}
	if r.Err != nil {
		return workload.Stages{}, fmt.Errorf("clickhouse: %w", r.Err)
	}
	p, err := queryList(v["queries"])
	if err != nil {
		return workload.Stages{}, fmt.Errorf("clickhouse: %w", err)
	}
	p.Database = r.Database(clickhouse.Name, clickhouse.Service{}, clients)
	s := workload.Stages{
		Data: serve.HitsBytes(hits), Threads: clients, Key: fmt.Sprintf("clickhouse-%s-%x", v["rows"], workload.HashOf(v["server"], v["server_options"])), Settle: 500 * time.Millisecond, Metrics: workload.ClosedLoop(),
		Prepare: func(dir string) workload.Task {
			return workload.HiddenTask(serve.PrepareCommand, clickhouse.Name, serve.Prepare{
				Server: workload.ProgramPath(v["server"]), Options: p.Server.Options, Hits: &hits, Into: dir,
			})
		},
	}
	s.Needs = []serve.Need{{Service: clickhouse.Name, Path: workload.ProgramPath(v["server"]), Package: workload.PackageOf(clickhouse.Name)}}
	s.UserSQL = clickhouseQueries[v["queries"]] == nil
	s.Code, _ = r.ServerCode(clickhouse.Service{})
	if p.File != "" {
		s.Named = append(s.Named, workload.NamedText("queries", p.File, checkQueries))
	}
	s.RunWith(p.Database, func(d load.Database) workload.Task {
		here := p
		here.Database = d
		return workload.LoadTask(Kind, here)
	})
	return s, nil
}

// queryList is the queries of a parameter, or the file that holds them.
func queryList(s string) (p Params, err error) {
	switch {
	case clickhouseQueries[s] != nil:
		p.Queries = clickhouseQueries[s]
	case filepath.IsAbs(s):
		p.File = s
	default:
		if p.Queries = inlineQueries(s); len(p.Queries) == 0 {
			err = errors.New("queries: there is none")
		}
	}
	return p, err
}

// checkQueries returns an error for a file without a query.
func checkQueries(text []byte) error {
	if len(QueryLines(string(text))) == 0 {
		return hint.New(errors.New("there is no query in it"), "one query on each line")
	}
	return nil
}
