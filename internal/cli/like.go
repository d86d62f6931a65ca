package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/databases/like"
	"github.com/tarelab/tare/internal/databases/serve"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/record"
)

// taken has the settings that a flag took from the user's server, and the paths of the experiment that get them.
type taken struct {
	flag    string // with its value, for errors
	service db.Service
	adopted like.Adopted
	paths   []string // beginnings of paths of the experiment: WORKLOAD. or arms.ARM.set.
}

// server is a server program of the experiment with the workloads and arms that use it.
type server struct {
	serve.Found // without Programs if none is installed
	paths       []string
}

func (s server) program() string { return s.Programs[db.Server] }

// serversOf are the server programs of an experiment.
func serversOf(e *experiment.Experiment) (all []server) {
	add := func(w experiment.Workload, path string) {
		found, ok := serviceOf(w)
		if !ok {
			return
		}
		i := slices.IndexFunc(all, func(x server) bool { return x.Name() == found.Name() && x.program() == found.Programs[db.Server] })
		if i < 0 {
			i = len(all)
			all = append(all, server{Found: found})
		}
		if !slices.Contains(all[i].paths, path) {
			all[i].paths = append(all[i].paths, path)
		}
	}
	for _, w := range e.Workloads {
		own := 0
		for _, a := range e.Named {
			if a.Set["server"] == "" && a.Set["service"] == "" {
				continue
			}
			own++
			of := w
			of.Params = maps.Clone(w.Params)
			maps.Copy(of.Params, a.Set)
			add(of, "arms."+a.Name+".set.")
		}
		if own == 0 || own < len(e.Named) {
			add(w, w.Name+".")
		}
	}
	return all
}

// target is what a server gets settings by. Each program is asked once for its own values.
func (f *experimentFlags) target(s server) (like.Target, error) {
	t := like.Target{Service: s.Service, Version: s.Version}
	if s.program() == "" {
		return t, nil // installed returns the error
	}
	t.Try = func(settings map[string]string, options []string) ([]string, error) {
		return s.Complaints(context.Background(), settings, options)
	}
	own, asked := f.own[s.program()]
	if !asked {
		var err error
		if own, err = s.Own(context.Background()); err != nil {
			return t, hint.New(err, "name another server: --server PATH")
		}
		if f.own == nil {
			f.own = map[string]map[string]string{}
		}
		f.own[s.program()] = own
	}
	t.Own = own
	return t, nil
}

// useLikes applies --like. Several files of one database are read one after the other.
func (f *experimentFlags) useLikes(e *experiment.Experiment, words experiment.Words) error {
	if f.Password != "" && !slices.ContainsFunc(f.Like, isDSN) {
		return &usageError{errors.New("--like-password is for --like with the address of a server, and there is none"), "--like mysql://USER@HOST:PORT --like-password FILE"}
	}
	if len(f.Like) == 0 {
		return f.applyTaken(e, words)
	}
	servers := serversOf(e)
	if len(servers) == 0 {
		return &usageError{fmt.Errorf("--like %s: no workload of %s has a database", f.Like[0], e.Name), "tare run mysql-layers, postgres-layers, redis-layers or clickhouse-colocation"}
	}
	files := map[string][]string{} // by protocol
	for _, path := range f.Like {
		protocol, err := protocolOf(servers, path)
		if err != nil {
			return err
		}
		if isDSN(path) {
			if err := f.askLike(path, servers); err != nil {
				return err
			}
			continue
		}
		files[protocol] = append(files[protocol], path)
	}
	for _, s := range servers {
		paths := files[s.Service.Describe().Protocol]
		if len(paths) == 0 {
			continue
		}
		if err := f.likeFiles(s, paths); err != nil {
			return err
		}
	}
	return f.applyTaken(e, words)
}

// likeFiles reads option files for a server.
func (f *experimentFlags) likeFiles(s server, paths []string) error {
	t, err := f.target(s)
	if err != nil {
		return err
	}
	adopted, err := like.File(t, paths...)
	if err == nil && adopted.Given == 0 {
		err = hint.New(fmt.Errorf("%s: no setting of a server in it", strings.Join(paths, ", ")), "name the option file of a server: it has the group [mysqld] (my.cnf), or lines with settings")
	}
	if err != nil {
		return &usageError{fmt.Errorf("--like: %w", err), ""}
	}
	f.taken = append(f.taken, taken{"--like " + strings.Join(paths, " --like "), s.Service, adopted, s.paths})
	return nil
}

// protocolOf finds the databases of which a file is an option file: by its name, or the only one. Of the address of a
// server it is "".
func protocolOf(servers []server, path string) (string, error) {
	if isDSN(path) {
		return "", nil
	}
	i := slices.IndexFunc(servers, func(s server) bool { return like.Matches(s.Service, path) })
	one := func(s server) bool {
		return s.Service.Describe().Protocol != servers[0].Service.Describe().Protocol
	}
	if i < 0 && !slices.ContainsFunc(servers, one) && !matchesAny(path) {
		i = 0
	}
	if i >= 0 {
		return servers[i].Service.Describe().Protocol, nil
	}
	var names []string
	for _, s := range servers {
		names = append(names, s.Name())
	}
	return "", &usageError{fmt.Errorf("--like %s: it is no option file of %s by its name", path, strings.Join(names, " or ")), optionFileNames}
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
