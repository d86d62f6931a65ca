package serve

import (
	"context"
	"fmt"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/logs/pgbench"
	"github.com/tarelab/tare/internal/logs/sysbench"
)

// Need is a program that a load cannot do without.
type Need struct {
	// Service is the word for a database server, Auto for one of MySQL's family; or Tool is
	// the name of a client.
	Service, Tool string
	// Path is that of the program; empty: it is looked for.
	Path string
	// Beside is the path of the server whose client it is, if that was named.
	Beside string
	// Package is Debian's.
	Package string
}

// Name is what people call it.
func (n Need) Name() string {
	if n.Service == Auto {
		return "MariaDB or MySQL"
	}
	if n.Service != "" {
		return n.Service
	}
	return n.Tool
}

// Missing is why a program cannot be used on this host, with the remedy; nil: it can.
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
		return err // it is there, and too old
	}
	return hint.New(fmt.Errorf("%s is not installed: %w", n.Name(), err), "apt-get install "+n.Package)
}
