package workload

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/databases/postgres"
	"github.com/tarelab/tare/internal/databases/serve"
	"github.com/tarelab/tare/internal/loads/load"
	driver "github.com/tarelab/tare/internal/loads/pgbench"
	"github.com/tarelab/tare/internal/logs/pgbench"
)

// Pgbench is pgbench on PostgreSQL: the server in the arm, pgbench beside it
// over TCP or in the arm too.
type Pgbench struct{}

func (Pgbench) Name() string { return "pgbench" }

func (Pgbench) Title() string { return "pgbench's scripts on PostgreSQL" }

// Params are the parameters: those of pgbench, then the settings of the server.
func (Pgbench) Params() []Param {
	params := []Param{
		serverParam("; auto: the newest that is installed"),
		{Name: "pgbench", Default: serve.Auto, Check: program,
			Help: "path of pgbench 10 or later; auto: that beside the server"},
		{Name: "script", Default: pgbench.SelectOnly, Words: pgbench.Builtin(), Check: pgScript,
			Help: "one of pgbench's scripts, or the absolute path of a file"},
		{Name: "scale", Default: "10", Check: whole(1, 100_000),
			Help: "size of the data set: 100 000 accounts each, about 15 MiB"},
		{Name: "clients", Default: "4", Check: whole(1, 4096),
			Help: "connections, each with one transaction at a time"},
		{Name: "threads", Default: "1", Check: whole(1, 256),
			Help: "threads of pgbench that look after the connections"},
		choice("mode", "prepared", "how statements are sent", pgbench.Modes()...),
		clientParam("pgbench runs"),
		connectParam(),
		optionsParam("options", "options passed on to pgbench", pgbench.CheckOption),
		optionsParam("init_options", "options passed on to pgbench --initialize", pgbench.CheckInitOption),
		serverOptions(postgres.Service{}),
	}
	return append(params, settingParams(postgres.Service{})...)
}

func pgScript(s string) error {
	if !pgbench.IsBuiltin(s) && !filepath.IsAbs(s) {
		return fmt.Errorf("%q is neither an absolute path nor one of %s", s, strings.Join(pgbench.Builtin(), ", "))
	}
	return nil
}

func (Pgbench) Stages(v Values) (Stages, error) {
	r := reader{v: v}
	data := pgbench.Data{Scale: r.whole("scale"), Options: list(v["init_options"])}
	p := driver.Params{
		Program: path(v["pgbench"]), Script: v["script"], Mode: v["mode"],
		Clients: r.whole("clients"), Threads: r.whole("threads"), Options: list(v["options"]),
	}
	p.Database = r.database(postgres.Name, postgres.Service{}, p.Clients)
	if r.err != nil {
		return Stages{}, fmt.Errorf("pgbench: %w", r.err)
	}
	s := Stages{
		// One process counts what all clients do.
		Threads: 1,
		Key:     fmt.Sprintf("pgbench-%s-%x", v["scale"], hashOf(v["server"], v["pgbench"], v["init_options"], v["server_options"])),
		Disk:    pgbench.Writes(p.Script), Grows: postgresGrows(v), Rate: postgresRate(p.Clients, pgbench.Writes(p.Script)), Cache: cache(v, "shared_buffers"),
		Settle: 500 * time.Millisecond, Metrics: closedLoop(),
		Prepare: func(dir string) Task {
			return hiddenTask(serve.PrepareCommand, postgres.Name, serve.Prepare{
				Server: path(v["server"]), Options: p.Server.Options, Pgbench: &data, Program: p.Program, Into: dir,
			})
		},
	}
	s.Needs = []serve.Need{
		{Service: postgres.Name, Path: path(v["server"]), Package: packageOf(postgres.Name)},
		{Tool: pgbench.Program, Path: p.Program, Beside: path(v["server"]), Package: "postgresql"},
	}
	own := p.Script
	if pgbench.IsBuiltin(own) {
		own = ""
	}
	code, client := r.serverCode(postgres.Service{})
	s.Code = clientCode(code, client, pgbench.Program, p.Program, own)
	s.place(p.Database, func(d load.Database) Task {
		here := p
		here.Database = d
		return loadTask(driver.Kind, here)
	})
	return s, nil
}
