package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/databases"
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/databases/serve"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/record"
)

// nameServers applies --set of a server or a service before the others: the program is asked for its own values.
// Errors are returned when --set is applied.
func (f *experimentFlags) nameServers(e *experiment.Experiment, words experiment.Words) {
	for _, s := range f.Set {
		path, _, _ := strings.Cut(s, "=")
		if i := strings.LastIndex(path, "."); i > 0 && (path[i+1:] == "server" || path[i+1:] == "service") {
			_ = e.Set(s, words)
		}
	}
}

// useServer applies --server to all workloads with a server of its family.
func (f *experimentFlags) useServer(e *experiment.Experiment, words experiment.Words) error {
	if f.Server == "" {
		return nil
	}
	named, path, err := f.findServer()
	if err != nil {
		return &usageError{fmt.Errorf("--server %s: %w", f.Server, err), ""}
	}
	protocol, used := named.Service.Describe().Protocol, false
	for _, w := range e.Workloads {
		found, ok := serviceOf(w)
		if !ok || found.Service.Describe().Protocol != protocol {
			continue
		}
		used = true
		param, value := "server", path
		if path == "" {
			if paramOf(words, w.Kind, []string{"service"}) == "" {
				continue // the database has one product
			}
			param, value = "service", named.Name()
		}
		if err := e.Apply("--server "+f.Server, w.Name+"."+param, value, words); err != nil {
			return err
		}
	}
	if !used {
		return &usageError{fmt.Errorf("--server %s is %s, and no workload of %s has a server of this kind", f.Server, db.ProductName(named.Name()), e.Name),
			"tare run mysql-layers, postgres-layers, redis-layers or clickhouse-colocation"}
	}
	return nil
}

// findServer finds the server of --server: a product's name, for which path is "", the name of a program in PATH, a
// program or the directory of an installation.
func (f *experimentFlags) findServer() (found serve.Found, path string, err error) {
	if s, err := databases.Find(f.Server); err == nil {
		found, err := serve.Find(context.Background(), s.Describe().Name, "", "")
		return found, "", err
	}
	path = f.Server
	st, err := os.Stat(path)
	if inPath, found := exec.LookPath(path); err != nil && found == nil {
		path = inPath
		st, err = os.Stat(path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return found, "", hint.New(errors.New("no such server, file or directory"), "--server PATH of a server program, its directory, or one of "+strings.Join(serverWords(), ", "))
	case err != nil:
		return found, "", err
	case st.IsDir():
		inDir := side{}
		if err := inDir.findIn(path); err != nil {
			return found, "", err
		}
		path = inDir.program
	}
	if path, err = filepath.Abs(path); err != nil {
		return found, "", err
	}
	found, err = identify(path)
	return found, path, err
}

// identify finds the database of a server program: by its name, and by its version.
func identify(path string) (found serve.Found, err error) {
	all := databases.All()
	slices.SortStableFunc(all, func(a, b db.Service) int { return named(b, path) - named(a, path) })
	var first error
	for _, s := range all {
		found, err = serve.Find(context.Background(), s.Describe().Name, path, "")
		if err == nil {
			return found, nil
		}
		if first == nil {
			first = err
		}
	}
	return found, hint.New(first, serverAndFileNames)
}

// named is 1 if a program has the name of a service's server program.
func named(s db.Service, path string) int {
	if slices.Contains(serverNames(s), filepath.Base(path)) {
		return 1
	}
	return 0
}

// serverWords are the names that --server takes.
func serverWords() (words []string) {
	for _, s := range databases.All() {
		words = append(words, s.Describe().Name)
	}
	return words
}

// programsFound are the servers and clients that this host has for needs; one that it lacks has no name.
type programsFound map[serve.Need]record.Program

// of are those of loads, servers first. Programs of images are not among them.
func (f programsFound) of(loads ...plan.Load) (all []record.Program) {
	for _, l := range loads {
		for _, u := range usesOf(l) {
			for _, n := range u.stages.Needs {
				if program := f.find(n); !u.image && program.Name != "" && !slices.Contains(all, program) {
					all = append(all, program)
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b record.Program) int {
		switch {
		case a.Server == b.Server:
			return 0
		case a.Server:
			return -1
		}
		return 1
	})
	return all
}

// find asks a program for its version once.
func (f programsFound) find(n serve.Need) record.Program {
	program, asked := f[n]
	if !asked {
		if found, ok := n.Program(context.Background()); ok {
			program = found
		}
		f[n] = program
	}
	return program
}

// withPaths names programs with their paths: "MySQL 8.0.15 (/opt/mysql/bin/mysqld)".
func withPaths(all []record.Program) string {
	var names []string
	for _, p := range all {
		names = append(names, fmt.Sprintf("%s (%s)", p, p.Path))
	}
	return strings.Join(names, ", ")
}

// acceptsAll returns why servers do not take the options and words of a plan. Only the program knows words and options of
// its version.
func acceptsAll(p *plan.Plan) error {
	if p.PodNode != "" {
		return nil
	}
	var all refusals
	for _, l := range p.Loads {
		for _, set := range variantsOf(l) {
			found, ok := serviceOf(experiment.Workload{Name: l.Name, Kind: l.Kind, Params: set})
			if !ok || found.Programs == nil {
				continue
			}
			settings, open := map[string]string{}, set[serverOptions] != workload.None
			for _, s := range found.Service.Describe().Settings {
				settings[s.Name] = set[s.Name]
				open = open || s.Open && !slices.Contains(s.Words, set[s.Name])
			}
			if !open {
				continue
			}
			complaints, err := found.Complaints(context.Background(), settings, workload.List(set[serverOptions]))
			if err == nil && len(complaints) > 0 {
				err = &usageError{fmt.Errorf("workload %s: %s does not take it: %s", l.Name, found.Version.Product(), complaints[0]), "another value, or another server: --server PATH"}
			}
			all.add(err)
		}
	}
	return all.err()
}

// variantsOf are the different parameters of a load's arms.
func variantsOf(l plan.Load) (all []map[string]string) {
	all = append(all, l.Params)
	for _, a := range l.Arms {
		if len(a.Set) > 0 {
			set := maps.Clone(l.Params)
			maps.Copy(set, a.Set)
			all = append(all, set)
		}
	}
	return all
}

// cachesFit returns an error for caches that are larger than all memory of this host.
func cachesFit(p *plan.Plan) error {
	if p.PodNode != "" {
		return nil
	}
	m, err := proc.FS("/").Amounts("proc/meminfo", "MemTotal")
	if err != nil {
		return nil // not every host says it
	}
	var all refusals
	for _, l := range p.Loads {
		for _, u := range usesOf(l) {
			if float64(u.stages.Cache) > m[0] {
				all.add(hint.New(notHere(fmt.Sprintf("%s: the cache of its server, %d MiB, is larger than the memory of this host, %d MiB", u.where, u.stages.Cache>>20, int64(m[0])>>20)),
					"a smaller size (--set buffer_pool, shared_buffers); --like fits sizes to the host"))
			}
		}
	}
	return all.err()
}
