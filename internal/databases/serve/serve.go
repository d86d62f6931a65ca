// Package serve runs database servers by the recipes of package db: it finds their programs, prepares
// data sets, starts a server, asks it over its protocol and shuts it down. It knows processes, files
// and connections, and nothing of arms, windows or what a load does with the server.
package serve

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/wire/hidden"
)

// The hidden commands. Their arguments are a kind, which is the name of a service or Auto, and the
// parameters in JSON: Server for Command, Prepare for PrepareCommand.
const (
	Command        = "__serve"
	PrepareCommand = "__prepare"
)

// Auto is the kind that stands for the service that is installed, or that made the data set.
const Auto = "auto"

// Main runs the hidden command __serve: it checks the data directory and executes the server. It
// returns only on failure, with the exit code.
func Main(args []string) int {
	if len(args) == 2 && args[0] == segmentWord {
		return segmentMain(args[1])
	}
	return hidden.Main(Command, args, func(ctx context.Context, kind string, params []byte) error {
		var s Server
		if err := hidden.Decode(params, &s); err != nil {
			return err
		}
		return s.become(ctx, kind)
	})
}

// PrepareMain runs the hidden command __prepare: it prepares a data set unless it is in the cache, and
// writes dataset.Prepared into the directory Prepare.Into.
func PrepareMain(args []string) int {
	return hidden.Main(PrepareCommand, args, func(ctx context.Context, kind string, params []byte) error {
		var p Prepare
		if err := hidden.Decode(params, &p); err != nil {
			return err
		}
		return p.runInto(ctx, kind)
	})
}

// errNotOurs means that tare did not make a data directory.
var errNotOurs = errors.New("tare did not make it")

// checkDir refuses a device, and a directory that is neither empty nor a data set of tare. A missing
// directory is allowed.
func checkDir(dir string) error {
	st, err := os.Stat(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("look at the data directory: %w", err)
	case st.Mode()&os.ModeDevice != 0:
		return hint.New(fmt.Errorf("%s is a device: a server's data is never put on a raw device: %w", dir, errNotOurs),
			"make a file system on it, mount it and name a directory on it")
	case !st.IsDir():
		return fmt.Errorf("%s is not a directory: %w", dir, errNotOurs)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("look at the data directory: %w", err)
	}
	if len(entries) > 0 && !isOurs(dir) {
		return hint.New(fmt.Errorf("%s is not empty and holds no data set of tare: %w", dir, errNotOurs), "name an empty or a new directory")
	}
	return nil
}
