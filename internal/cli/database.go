package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/databases"
	"github.com/tarelab/tare/internal/databases/mysql"
	"github.com/tarelab/tare/internal/databases/serve"
	"github.com/tarelab/tare/internal/databases/sqlfile"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/linux/wall"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/planning/plan"
)

// databaseFlags are the flags about the user's own database.
type databaseFlags struct {
	Like       []string `group:"database" sep:"none" placeholder:"FILE|DSN" help:"Give every server the settings of yours: my.cnf, postgresql.conf, redis.conf, config.xml, or a running server (mysql://USER@HOST:PORT, postgres://, redis://), which is only asked. May be repeated."`
	Password   string   `name:"like-password" group:"database" placeholder:"FILE" help:"File with the password for --like DSN. Without it tare asks on the terminal."`
	Statements string   `group:"database" placeholder:"FILE" help:"Run your SQL (*.sql): its statements in order are one event. Names are drawn with \\set NAME random(LOW, HIGH)."`
	Dump       string   `group:"database" placeholder:"FILE" help:"Fill the databases with a dump of mysqldump or pg_dump (plain, .gz or .zst) instead of generated rows."`
	Server     string   `group:"database" placeholder:"PATH|NAME" help:"The server of all loads: a server program, its directory, or mariadb, mysql, percona, postgres, redis or clickhouse. Without it the first one that is installed."`
	Old        string   `group:"database" placeholder:"PATH" help:"tare run ab: the server program, its directory, or the option file to compare with."`
	New        string   `group:"database" placeholder:"PATH" help:"tare run ab: the server program, directory or option file that is compared."`

	taken []taken                      // see takeOver
	own   map[string]map[string]string // what server programs have by themselves, by their paths
}

// given are the flags that are given, with absolute paths.
func (f *databaseFlags) given() (all []setting) {
	for _, like := range f.Like {
		if !isDSN(like) {
			like = absolute(like)
		}
		all = append(all, setting{"like", like})
	}
	if f.Server != "" {
		server := f.Server
		if _, err := os.Stat(server); err == nil {
			server = absolute(server)
		}
		all = append(all, setting{"server", server})
	}
	for _, s := range []setting{{"like-password", f.Password}, {"statements", f.Statements}, {"dump", f.Dump}, {"old", f.Old}, {"new", f.New}} {
		if s.value != "" {
			all = append(all, setting{s.flag, absolute(s.value)})
		}
	}
	return all
}

// onlyHere returns an error if a flag names files of this host, for a run on other nodes.
func (f *databaseFlags) onlyHere() error {
	for _, s := range f.given() {
		return &usageError{fmt.Errorf("--%s is for runs on this host, and --node-helper starts them on others", s.flag), "run tare on the node itself"}
	}
	return nil
}

// takeOver applies the flags to the experiment.
func (f *experimentFlags) takeOver(e *experiment.Experiment, words experiment.Words) error {
	f.taken = nil
	f.nameServers(e, words)
	if err := f.useServer(e, words); err != nil {
		return err
	}
	if err := f.compareSides(e, words); err != nil {
		return err
	}
	if err := f.useSQL(e, words); err != nil {
		return err
	}
	f.nameServers(e, words)
	return f.useLikes(e, words)
}

// sqlParams are the parameters that take a file of statements.
var sqlParams = []string{"script", "queries"}

// statementsLoad is the name of the workload that runs the user's statements.
const statementsLoad = "statements"

// useSQL applies --dump and --statements. Workloads of one kind would run the same statements, so one of
// each kind stays.
func (f *experimentFlags) useSQL(e *experiment.Experiment, words experiment.Words) error {
	for _, s := range []setting{{"dump", f.Dump}, {"statements", f.Statements}, {"old", f.Old}, {"new", f.New}} {
		if isDSN(s.value) {
			return &usageError{fmt.Errorf("--%s wants a file, not the address of a server", s.flag), "--like takes the settings of a running server"}
		}
	}
	if f.Dump != "" {
		if err := eachWith(e, words, "--dump", []string{"dump"}, absolute(f.Dump)); err != nil {
			return err
		}
	}
	if f.Statements == "" {
		return nil
	}
	if !strings.HasSuffix(f.Statements, sqlfile.Ending) {
		return &usageError{fmt.Errorf("--statements %s: a file of statements ends in %s", f.Statements, sqlfile.Ending), "rename it"}
	}
	keepOneOfEachKind(e, words)
	return eachWith(e, words, "--statements", sqlParams, absolute(f.Statements))
}

// keepOneOfEachKind drops further workloads of a kind that takes statements, and workloads that take none.
func keepOneOfEachKind(e *experiment.Experiment, words experiment.Words) {
	var kinds []string
	kept := slices.DeleteFunc(slices.Clone(e.Workloads), func(w experiment.Workload) bool {
		again := slices.Contains(kinds, w.Kind)
		kinds = append(kinds, w.Kind)
		return again || paramOf(words, w.Kind, sqlParams) == ""
	})
	if len(kept) == 0 {
		return // eachWith returns the error
	}
	e.Workloads, e.Sizes = kept, nil
	for i := range kept {
		kept[i].Optional = false
		if kept[i].Name = statementsLoad; i > 0 {
			kept[i].Name += "-" + kept[i].Kind
		}
	}
}

// paramOf is the first of the parameters that a kind of workload has; "": it has none.
func paramOf(words experiment.Words, kind string, names []string) string {
	for _, p := range words.Kinds[kind] {
		if slices.Contains(names, p.Name) && hasServer(words, kind) {
			return p.Name
		}
	}
	return ""
}

// hasServer says whether a kind of workload has a database server.
func hasServer(words experiment.Words, kind string) bool {
	for _, p := range words.Kinds[kind] {
		if p.Name == serverOptions {
			return true
		}
	}
	return false
}

// serverOptions is the parameter of all workloads with a server, see workload.ServerOptions.
const serverOptions = "server_options"

// eachWith sets a flag's value in each workload that has one of the parameters.
func eachWith(e *experiment.Experiment, words experiment.Words, flag string, params []string, value string) error {
	found := false
	for _, w := range e.Workloads {
		param := paramOf(words, w.Kind, params)
		if param == "" {
			continue
		}
		found = true
		if err := e.Apply(flag, w.Name+"."+param, value, words); err != nil {
			return err
		}
	}
	if !found {
		return &usageError{fmt.Errorf("%s: no workload of %s takes one", flag, e.Name), "tare run mysql-layers or postgres-layers"}
	}
	return nil
}

// serviceOf is the database of a workload; false: it has none. For a workload with any database of the
// MySQL family it is the installed one. Without an installed one it has neither version nor programs.
func serviceOf(w experiment.Workload) (found serve.Found, ok bool) {
	for _, n := range needsOf(w) {
		if n.Service == "" {
			continue
		}
		if found, err := serve.Find(context.Background(), n.Service, n.Path, ""); err == nil {
			return found, true
		}
		for _, s := range databases.All() {
			if d := s.Describe(); d.Name == n.Service || n.Service == serve.Auto && d.Protocol == mysql.Family {
				return serve.Found{Service: s}, true
			}
		}
	}
	return found, false
}

// checkSQL reads the user's dumps and statements before anything starts.
func checkSQL(p *plan.Plan) error {
	checked := map[string]bool{}
	var all refusals
	for _, l := range p.Loads {
		for _, u := range usesOf(l) {
			if err := wall.Possible(); err != nil && u.stages.UserSQL {
				all.add(hint.New(fmt.Errorf("%w: %s: %w", facts.ErrUnsupported, l.Name, err), hint.Of(err)))
			}
			for _, file := range u.stages.SQL {
				key := fmt.Sprint(file)
				if checked[key] {
					continue
				}
				checked[key] = true
				if err := file.Check(); err != nil {
					all.add(&usageError{err, ""})
				}
			}
		}
	}
	return all.err()
}

// memoryShare is the part of all memory that the caches of one server may take. It depends neither on the free memory nor
// on the arms, so that two runs have the same servers; eight servers take half of the memory.
const memoryShare = 1. / 16

// fit scales the sizes in the settings that were taken over to the memory of this host. It returns true if
// one changed.
func (f *experimentFlags) fit(p *plan.Plan) (changed bool, err error) {
	if len(f.taken) == 0 || p.PodNode != "" {
		return false, nil
	}
	m, err := proc.FS("/").Amounts("proc/meminfo", "MemTotal")
	if err != nil {
		return false, fmt.Errorf("find the memory of this host: %w", err)
	}
	for i := range f.taken {
		t := &f.taken[i]
		before := len(t.adopted.Changes)
		t.adopted.Fit(t.service.Describe(), int64(memoryShare*m[0]))
		changed = changed || len(t.adopted.Changes) > before
	}
	return changed, nil
}

var errBothSides = errors.New("ab compares two servers or option files")
