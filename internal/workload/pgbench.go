package workload

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/dataset"
	"github.com/tarelab/tare/internal/db"
	"github.com/tarelab/tare/internal/db/postgres"
	"github.com/tarelab/tare/internal/environment"
	"github.com/tarelab/tare/internal/load"
	"github.com/tarelab/tare/internal/serve"
	"github.com/tarelab/tare/internal/tool/pgbench"
	"github.com/tarelab/tare/internal/tool/pgbench/driver"
)

// Pgbench is pgbench on PostgreSQL: the server in the arm, pgbench beside it
// over TCP or in the arm too.
type Pgbench struct{}

// Name is "pgbench".
func (Pgbench) Name() string { return "pgbench" }

// Title is one line for people.
func (Pgbench) Title() string { return "pgbench's scripts on PostgreSQL" }

// Params are the parameters: those of pgbench, then the settings of the server.
func (Pgbench) Params() []Param {
	params := []Param{
		{Name: "server", Default: serve.Auto, Check: program,
			Help: "path of the server's program; auto: the newest that is installed"},
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
		{Name: "mode", Default: "prepared", Words: pgbench.Modes(), Check: oneOf(pgbench.Modes()...),
			Help: "how statements are sent"},
		{Name: "client", Default: "outside", Words: []string{"outside", "inside"}, Check: oneOf("outside", "inside"),
			Help: "where pgbench runs: outside of the arm, or in it with the server"},
		{Name: "connect", Default: "tcp", Words: []string{"tcp", "socket"}, Check: oneOf("tcp", "socket"),
			Help: "how it reaches the server; a socket needs client=inside"},
		{Name: "options", Default: none, Check: options(pgbench.CheckOption),
			Help: "options passed on to pgbench, --name=value with spaces between"},
		{Name: "init_options", Default: none, Check: options(pgbench.CheckInitOption),
			Help: "options passed on to pgbench --initialize, --name=value with spaces between"},
		{Name: "server_options", Default: none, Check: options(postgresOption),
			Help: "settings passed on to the server, --name=value with spaces between"},
	}
	return append(params, settingParams(postgres.Service{})...)
}

// settingParams are the settings of a service as parameters.
func settingParams(s db.Service) (params []Param) {
	for _, s := range s.Describe().Settings {
		check := s.Check
		if check == nil {
			check = oneOf(s.Words...)
		}
		params = append(params, Param{Name: s.Name, Default: s.Default, Words: s.Words, Help: "server: " + s.Help, Check: check})
	}
	return params
}

// settings are the values of those.
func settings(s db.Service, v Values) map[string]string {
	out := map[string]string{}
	for _, s := range s.Describe().Settings {
		out[s.Name] = v[s.Name]
	}
	return out
}

func pgScript(s string) error {
	if !pgbench.IsBuiltin(s) && !filepath.IsAbs(s) {
		return fmt.Errorf("%q is neither an absolute path nor one of %s", s, strings.Join(pgbench.Builtin(), ", "))
	}
	return nil
}

// postgresOption refuses what tare sets itself.
func postgresOption(s string) error {
	name, found := strings.CutPrefix(s, "--")
	name, _, value := strings.Cut(strings.ReplaceAll(name, "-", "_"), "=")
	if !found || name == "" || !value {
		return fmt.Errorf("%q: want --name=value", s)
	}
	place := []string{
		"data_directory", "config_file", "hba_file", "ident_file", "external_pid_file", "listen_addresses", "port",
		"unix_socket_directories", "unix_socket_permissions", "unix_socket_group", "dynamic_shared_memory_type", "shared_memory_type",
		"restart_after_crash", "lc_messages", "logging_collector", "log_destination",
	}
	if slices.Contains(place, name) {
		return fmt.Errorf("%q is not yours to set", s)
	}
	return nil
}

// Stages says what to start.
func (Pgbench) Stages(v Values) (Stages, error) {
	r := reader{v: v}
	data := pgbench.Data{Scale: r.whole("scale"), Options: list(v["init_options"])}
	p := driver.Params{
		Program: path(v["pgbench"]), Script: v["script"], Mode: v["mode"],
		Clients: r.whole("clients"), Threads: r.whole("threads"), Options: list(v["options"]),
	}
	if r.err != nil {
		return Stages{}, fmt.Errorf("pgbench: %w", r.err)
	}
	p.Database = load.Database{
		Service: postgres.Name, Inside: v["client"] == "inside", TCP: v["client"] == "inside" && v["connect"] == "tcp",
		Server: serve.Server{Settings: settings(postgres.Service{}, v), Options: list(v["server_options"]), Connections: p.Clients},
	}
	if !p.Inside && v["connect"] == "socket" {
		return Stages{}, errors.New("pgbench: connect=socket needs client=inside: a socket does not reach out of an arm")
	}
	s := Stages{
		// One process counts what all clients do.
		Threads: 1, Key: pgKey(v), Disk: pgbench.Writes(p.Script), Grows: postgresGrows(v), Cache: cache(v, "shared_buffers"), Settle: 500 * time.Millisecond, Metrics: closedLoop(),
		Prepare: func(dir string) Task {
			return hiddenTask(serve.PrepareCommand, postgres.Name, serve.Prepare{
				Server: path(v["server"]), Options: p.Server.Options, Pgbench: &data, Program: p.Program, Into: dir,
			})
		},
	}
	s.place(p.Database, func(d load.Database) Task {
		here := p
		here.Database = d
		return loadTask(driver.Kind, here)
	})
	return s, nil
}

// place starts the server in the arm and its load in it too, or beside it.
func (s *Stages) place(d load.Database, task func(load.Database) Task) {
	if d.Inside {
		s.Load = func(at environment.Place) Task {
			here := d
			here.Server.Dir = at.Volume
			return task(here)
		}
		return
	}
	s.Carried = []string{dataset.MarkerFile, db.SecretFile}
	s.Server = func(at environment.Place) Task {
		here := d.Server
		here.Dir, here.Listen = at.Volume, at.Listen
		return hiddenTask(serve.Command, d.Service, here)
	}
	s.Load = func(at environment.Place) Task {
		here := d
		here.Server.Dir = cmp.Or(at.ClientVolume, at.HostVolume, at.Volume)
		here.Server.Listen, here.Dial = at.Listen, at.Dial
		return task(here)
	}
}

// pgKey tells data sets apart within a run. The cache's own key, which prepare
// knows, has the server's version too.
func pgKey(v Values) string {
	h := fnv.New32a()
	for _, name := range []string{"server", "pgbench", "init_options", "server_options"} {
		h.Write([]byte(v[name] + "\x00"))
	}
	return fmt.Sprintf("pgbench-%s-%x", v["scale"], h.Sum32())
}
