package workload

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/tarelab/tare/internal/chbench"
	"github.com/tarelab/tare/internal/load"
	"github.com/tarelab/tare/internal/serve"
	"github.com/tarelab/tare/internal/service"
)

// ClickHouseBenchmark is clickhouse-benchmark of any version, with its server
// in the arm. It cannot be cut at any instant, so there is one for each window.
type ClickHouseBenchmark struct{}

var _ Substituted = ClickHouseBenchmark{}

// Name is "clickhouse-benchmark".
func (ClickHouseBenchmark) Name() string { return "clickhouse-benchmark" }

// Title is one line for people.
func (ClickHouseBenchmark) Title() string {
	return "clickhouse-benchmark, anew for each window, over ClickHouse's own protocol"
}

// own are the parameters that the built-in query load does not have.
var own = []string{"benchmark", "iterations", "reconnect", "options"}

// Params are the parameters: those of the tool, then those of the data and of
// the server.
func (ClickHouseBenchmark) Params() []Param {
	params := []Param{
		{Name: "benchmark", Default: serve.Auto, Check: program,
			Help: "path of clickhouse-benchmark, or of clickhouse, which is everything; auto: in PATH, and where there is none tare's own queries over HTTP"},
		{Name: "iterations", Default: "0", Check: whole(0, 1_000_000_000),
			Help: "queries of a window at most, like -i of clickhouse-benchmark; its -t is the length of the window (window=30s); 0: as many as there is time for"},
		{Name: "reconnect", Default: "0", Check: whole(0, 1_000_000),
			Help: "a connection is made anew after so many queries, in versions that can; 0: never"},
		{Name: "options", Default: none, Check: options(chbench.CheckOption),
			Help: "options passed on to clickhouse-benchmark, --name=value with spaces between"},
	}
	for _, p := range (ClickHouse{}).Params() {
		if p.Name == "client" {
			p.Default, p.Words, p.Check = "inside", []string{"inside"}, oneOf("inside")
			p.Help = "it runs in the arm with its server"
		}
		params = append(params, p)
	}
	return params
}

// Stages says what to start.
func (ClickHouseBenchmark) Stages(v Values) (Stages, error) {
	r := reader{v: v}
	p := load.ClickHouseBenchmark{
		Program: path(v["benchmark"]), Clients: r.whole("concurrency"), Iterations: r.whole("iterations"),
		Reconnect: r.whole("reconnect"), Options: list(v["options"]),
	}
	hits := service.ClickHouseHits{Rows: r.whole("rows")}
	if r.err != nil {
		return Stages{}, fmt.Errorf("clickhouse-benchmark: %w", r.err)
	}
	var err error
	if p.ClickHouse, err = queryList(v["queries"]); err != nil {
		return Stages{}, fmt.Errorf("clickhouse-benchmark: %w", err)
	}
	p.Database = load.Database{
		Service: service.ClickHouseName, Inside: true, TCP: true,
		Server: serve.Server{Settings: settings(service.ClickHouse{}, v), Options: list(v["server_options"]), Connections: p.Clients},
	}
	s := Stages{
		Threads: 1, Key: hitsKey(v), Metrics: closedLoop(),
		Prepare: func(dir string) Task {
			return hiddenTask(serve.PrepareCommand, service.ClickHouseName, serve.Prepare{
				Server: path(v["server"]), Options: p.Server.Options, Hits: &hits, Into: dir,
			})
		},
		// It looks at its clock when it begins a query: the last ones end later.
		Windowed: &Windowed{Least: time.Second, Usual: 2 * time.Second, Limit: 2 * time.Minute},
	}
	s.place(p.Database, func(d load.Database) Task {
		here := p
		here.Database = d
		return loadTask(load.KindClickHouseBenchmark, here)
	})
	return s, nil
}

// Substitute is the built-in query load, where the tool is not installed.
func (ClickHouseBenchmark) Substitute(v map[string]string, installed func(string) bool) (Workload, map[string]string, string) {
	named, ok := v["benchmark"]
	if ok && named != serve.Auto || installed(chbench.Program) || installed(chbench.One) {
		return nil, nil, ""
	}
	params := maps.Clone(v)
	maps.DeleteFunc(params, func(name, _ string) bool { return slices.Contains(own, name) })
	if params == nil {
		params = map[string]string{}
	}
	params["client"] = "inside"
	return ClickHouse{}, params, "clickhouse-benchmark is not installed (apt-get install clickhouse-tools): tare's own query load asks the same queries over HTTP"
}
