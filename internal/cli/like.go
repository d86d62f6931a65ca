package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/databases/like"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/record"
)

// taken are settings of the user's server with what gets them.
type taken struct {
	flag    string // with its value, for errors
	service db.Service
	adopted like.Adopted
	paths   []string // beginnings of paths of the experiment: WORKLOAD. or arms.ARM.set.
}

// server is a database of the experiment with the workloads that use it.
type server struct {
	service db.Service
	version db.Version
	paths   []string
}

// serversOf are the databases of an experiment.
func serversOf(e *experiment.Experiment) (all []server) {
	for _, w := range e.Workloads {
		s, v, ok := serviceOf(w)
		if !ok {
			continue
		}
		i := slices.IndexFunc(all, func(x server) bool { return x.service.Describe().Name == s.Describe().Name })
		if i < 0 {
			i = len(all)
			all = append(all, server{service: s, version: v})
		}
		all[i].paths = append(all[i].paths, w.Name+".")
	}
	return all
}

// useLikes applies --like. Several files of one database are read one after the other.
func (f *experimentFlags) useLikes(e *experiment.Experiment, words experiment.Words) error {
	if len(f.Like) == 0 {
		return f.applyTaken(e, words)
	}
	servers := serversOf(e)
	if len(servers) == 0 {
		return &usageError{fmt.Errorf("--like %s: no workload of %s has a database", f.Like[0], e.Name), "tare run mysql-layers, postgres-layers, redis-layers or clickhouse-colocation"}
	}
	files := make([][]string, len(servers))
	for _, path := range f.Like {
		if isDSN(path) {
			t, err := f.askLike(path, servers)
			if err != nil {
				return err
			}
			f.taken = append(f.taken, t)
			continue
		}
		i, err := ofServer(servers, path)
		if err != nil {
			return err
		}
		files[i] = append(files[i], path)
	}
	for i, paths := range files {
		if len(paths) == 0 {
			continue
		}
		s := servers[i]
		flag := "--like " + strings.Join(paths, " --like ")
		adopted, err := like.File(s.service, s.version, paths...)
		if err != nil {
			return &usageError{fmt.Errorf("--like: %w", err), ""}
		}
		f.taken = append(f.taken, taken{flag, s.service, adopted, s.paths})
	}
	return f.applyTaken(e, words)
}

// ofServer finds the database of which a file is an option file: by its name, or the only one.
func ofServer(servers []server, path string) (int, error) {
	i := slices.IndexFunc(servers, func(s server) bool { return like.Matches(s.service, path) })
	if i < 0 && len(servers) == 1 && !matchesAny(path) {
		i = 0
	}
	if i >= 0 {
		return i, nil
	}
	var names []string
	for _, s := range servers {
		names = append(names, s.service.Describe().Name)
	}
	return 0, &usageError{fmt.Errorf("--like %s: it is no option file of %s by its name", path, strings.Join(names, " or ")), optionFileNames}
}

// applyTaken sets the parameters of workloads and arms.
func (f *experimentFlags) applyTaken(e *experiment.Experiment, words experiment.Words) error {
	for _, t := range f.taken {
		for _, path := range t.paths {
			for name, value := range t.adopted.Settings {
				if err := e.Apply(t.flag, path+name, value, words); err != nil {
					return err
				}
			}
			if len(t.adopted.Options) == 0 {
				continue
			}
			if err := e.Apply(t.flag, path+serverOptions, strings.Join(t.adopted.Options, " "), words); err != nil {
				return err
			}
		}
	}
	return nil
}

// adopted are the changes of the settings that were taken over, for the record.
func (f *experimentFlags) adopted() (all []record.Adopted) {
	for _, t := range f.taken {
		for _, c := range t.adopted.Changes {
			all = append(all, record.Adopted{From: c.From, Name: c.Name, Value: c.Value, Used: c.Used, Why: c.Why})
		}
	}
	return all
}
