package pgbench

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/databases/postgres"
	"github.com/tarelab/tare/internal/databases/serve"
	"github.com/tarelab/tare/internal/databases/sqlfile"
	"github.com/tarelab/tare/internal/loads/load"
	"github.com/tarelab/tare/internal/loads/workload"
	tool "github.com/tarelab/tare/internal/logs/pgbench"
	"github.com/tarelab/tare/record"
)

// Workload is pgbench on PostgreSQL. The server runs in the arm; pgbench runs outside, over TCP, or
// in the arm too.
type Workload struct{}

func (Workload) Name() string { return "pgbench" }

func (Workload) Title() record.Said { return record.Say("load_pgbench") }

// Params are the parameters of pgbench, then the settings of the server.
func (Workload) Params() []workload.Param {
	params := []workload.Param{
		workload.ServerParam("; auto: the newest that is installed"),
		{Name: "pgbench", Default: serve.Auto, Check: workload.CheckProgram,
			Help: "path of pgbench 10 or later; auto: that beside the server"},
		{Name: "script", Default: tool.SelectOnly, Check: pgScript,
			Help: "one of pgbench's scripts, or the absolute path of a file"},
		{Name: "scale", Default: "10", Check: workload.Whole(1, 100_000),
			Help: "size of the data set: 100 000 accounts each, about 15 MiB"},
		{Name: "clients", Default: "4", Check: workload.Whole(1, 4096),
			Help: "connections, each with one transaction at a time"},
		{Name: "threads", Default: "1", Check: workload.Whole(1, 256),
			Help: "threads of pgbench that look after the connections"},
		workload.Choice("mode", "prepared", "how statements are sent", tool.Modes()...),
		workload.ClientParam("pgbench runs"),
		workload.ConnectParam(),
		workload.OptionsParam("options", "options passed on to pgbench", tool.CheckOption),
		workload.OptionsParam("init_options", "options passed on to pgbench --initialize", tool.CheckInitOption),
		workload.ServerOptions(postgres.Service{}),
	}
	params = append(params, workload.DumpParams()...)
	return append(params, workload.SettingParams(postgres.Service{})...)
}

func pgScript(s string) error {
	if !tool.IsBuiltin(s) && !filepath.IsAbs(s) {
		return fmt.Errorf("%q is neither an absolute path nor one of %s", s, strings.Join(tool.Builtin(), ", "))
	}
	return nil
}

func (Workload) Stages(v workload.Values) (workload.Stages, error) {
	r := workload.Reader{Values: v}
	data := tool.Data{Scale: r.Whole("scale"), Options: workload.List(v["init_options"])}
	p := Params{
		Program: workload.ProgramPath(v["pgbench"]), Script: v["script"], Mode: v["mode"],
		Clients: r.Whole("clients"), Threads: r.Whole("threads"), Options: workload.List(v["options"]),
	}
	p.Database = r.Database(postgres.Name, postgres.Service{}, p.Clients)
	if r.Err != nil {
		return workload.Stages{}, fmt.Errorf("pgbench: %w", r.Err)
	}
	s := workload.Stages{
		// One process counts the transactions of all clients.
		Threads: 1,
		Key:     fmt.Sprintf("pgbench-%s-%x", v["scale"], workload.HashOf(v["server"], v["pgbench"], v["init_options"], v["server_options"], v["dump"])),
		Disk:    tool.Writes(p.Script), Grows: workload.Bytes(v, "max_wal_size") + workload.TablesGrow, Rate: growth(p.Clients, tool.Writes(p.Script)), Cache: workload.Bytes(v, "shared_buffers"),
		Settle: 500 * time.Millisecond, Metrics: workload.ClosedLoop(),
		Prepare: func(dir string) workload.Task {
			fill := serve.Prepare{Server: workload.ProgramPath(v["server"]), Options: p.Server.Options, Into: dir}
			if !workload.Fill(&fill, v) {
				fill.Pgbench, fill.Program = &data, p.Program
			}
			return workload.HiddenTask(serve.PrepareCommand, postgres.Name, fill)
		},
		SQL: workload.SQLOf(v, sqlfile.Postgres),
	}
	s.Needs = []serve.Need{
		{Service: postgres.Name, Path: workload.ProgramPath(v["server"]), Package: workload.PackageOf(postgres.Name)},
		{Tool: tool.Program, Path: p.Program, Beside: workload.ProgramPath(v["server"]), Package: "postgresql"},
	}
	if workload.DumpPath(v) == "" {
		s.Data = serve.PgbenchBytes(data)
	}
	own := p.Script
	if tool.IsBuiltin(own) {
		own = ""
	}
	s.UserSQL = len(s.SQL) > 0 || own != ""
	code, client := r.ServerCode(postgres.Service{})
	s.Code = workload.ClientCode(code, client, tool.Program, p.Program, own)
	s.Named = workload.NamedScript(v, own)
	s.RunWith(p.Database, func(d load.Database) workload.Task {
		here := p
		here.Database = d
		return workload.LoadTask(Kind, here)
	})
	return s, nil
}

// growth is how many bytes a second the tables grow by; the write-ahead log has a size.
func growth(clients int, writes bool) int64 {
	if !writes {
		return 0
	}
	return int64(clients) * workload.TablesRate
}
