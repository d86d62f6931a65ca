package serve

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/logs/pgbench"
	"github.com/tarelab/tare/internal/logs/sysbench"
	"github.com/tarelab/tare/record"
)

// Need is a program that a load needs.
type Need struct {
	// Service is the name of a database server, or Auto for one of MySQL's family. If it is empty,
	// Tool is the name of a client.
	Service, Tool string
	// Path is the program's path; empty: it is looked up.
	Path string
	// Beside is the path of the server program, for a client, if the user gave one.
	Beside string
	// Package is the Debian package.
	Package string
}

// Name is the program's name for people.
func (n Need) Name() string {
	if n.Service == Auto {
		return "MariaDB or MySQL"
	}
	if n.Service != "" {
		return n.Service
	}
	return n.Tool
}

// Programs are the paths of the program and of those that belong to it, as they are found now; none if it is
// missing.
func (n Need) Programs() (all []string) {
	if n.Service != "" {
		found, err := candidates(n.Service)
		if err != nil {
			return nil
		}
		for _, s := range found {
			programs, err := programsOf(s.Describe(), n.Path)
			if err != nil {
				continue
			}
			all = slices.Sorted(maps.Values(programs))
			return slices.DeleteFunc(all, func(path string) bool { return path == "" }) // an optional one
		}
		return nil
	}
	path, err := n.Path, error(nil)
	if n.Tool == pgbench.Program {
		path, err = lookPgbench(n.Path, n.Beside)
	} else if path == "" {
		path, err = look([]string{n.Tool})
	}
	if err != nil {
		return nil
	}
	return []string{path}
}

// answers says whether a tool is there and prints a version.
func answers(ctx context.Context, tool, path string) (err error) {
	if path != "" {
		path, err = executable(path)
	} else {
		path, err = look([]string{tool})
	}
	if err != nil {
		return err
	}
	if _, err := versionOutput(ctx, path, []string{"--version"}); err != nil {
		return hint.New(&UnusableError{err}, "mend or remove that program; tare needs "+tool)
	}
	return nil
}

// Missing is why the program cannot be used on this host, with a hint; nil if it can. An UnusableError is about a
// program that is there.
func (n Need) Missing(ctx context.Context) (err error) {
	switch {
	case n.Service != "":
		_, err = Find(ctx, n.Service, n.Path, "")
	case n.Tool == sysbench.Program:
		_, _, err = FindSysbench(ctx, n.Path)
	case n.Tool == pgbench.Program:
		_, _, err = FindPgbench(ctx, n.Path, n.Beside)
	default:
		err = answers(ctx, n.Tool, n.Path)
	}
	if broken := (*UnusableError)(nil); err == nil || n.Path != "" || n.Beside != "" || errors.As(err, &broken) {
		return err
	}
	return hint.New(fmt.Errorf("%s is not installed: %w", n.Name(), err), "apt-get install "+n.Package)
}

// Program is the program that this host has for a need, with its version; false: it has none.
func (n Need) Program(ctx context.Context) (record.Program, bool) {
	switch {
	case n.Service != "":
		f, err := Find(ctx, n.Service, n.Path, "")
		return record.Program{Name: db.ProductName(f.Version.Flavour), Version: f.Version.Short(), Path: f.Programs[db.Server], Server: true}, err == nil
	case n.Tool == sysbench.Program:
		path, v, err := FindSysbench(ctx, n.Path)
		return record.Program{Name: n.Tool, Version: v.Text, Path: path}, err == nil
	case n.Tool == pgbench.Program:
		path, v, err := FindPgbench(ctx, n.Path, n.Beside)
		number, _, _ := strings.Cut(v.Text, " ")
		return record.Program{Name: n.Tool, Version: number, Path: path}, err == nil
	}
	return record.Program{}, false
}
