package serve

import (
	"context"
	"fmt"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/logs/pgbench"
	"github.com/tarelab/tare/internal/logs/sysbench"
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

// Missing is why the program cannot be used on this host, with a hint; nil if it can.
func (n Need) Missing(ctx context.Context) (err error) {
	switch {
	case n.Service != "":
		_, err = Find(ctx, n.Service, n.Path, "")
	case n.Tool == sysbench.Program:
		_, _, err = FindSysbench(ctx, n.Path)
	case n.Tool == pgbench.Program:
		_, _, err = FindPgbench(ctx, n.Path, n.Beside)
	case n.Path != "":
		_, err = executable(n.Path)
	default:
		_, err = look([]string{n.Tool})
	}
	if err == nil || n.Path != "" || n.Beside != "" {
		return err
	}
	if _, lookErr := look([]string{n.Tool}); n.Tool != "" && lookErr == nil {
		return err // it is installed, but too old
	}
	return hint.New(fmt.Errorf("%s is not installed: %w", n.Name(), err), "apt-get install "+n.Package)
}
