// Package serve runs database servers from the descriptions of internal/databases/db:
// finds their programs, prepares data sets with them, becomes one of them inside
// an arm, asks them over their own protocol, and ends them in order. It knows
// processes, files and connections, and nothing of arms, windows or what a load
// does with the server.
package serve

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/wire/hidden"
)

// The hidden commands: Command, kind, parameters in JSON. The kind is the name
// of a service or Auto; the parameters are Server and Prepare.
const (
	Command        = "__serve"
	PrepareCommand = "__prepare"
)

// Auto is the kind for: whichever service is installed, or the one that made
// the data set.
const Auto = "auto"

// Main is the hidden command __serve: it checks the data directory and becomes
// the server, so it returns only when that failed, with an exit code.
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

// PrepareMain is the hidden command __prepare: it makes sure that a data set is
// in the cache and leaves dataset.Prepared in the directory that the parameters
// name.
func PrepareMain(args []string) int {
	return hidden.Main(PrepareCommand, args, func(ctx context.Context, kind string, params []byte) error {
		var p Prepare
		if err := hidden.Decode(params, &p); err != nil {
			return err
		}
		return p.answer(ctx, kind)
	})
}

// ErrNotOurs means a data directory that tare did not make.
var ErrNotOurs = errors.New("tare did not make it")

// CheckDir refuses what must not be written to: a device, and a directory with
// anything in it that tare did not prepare. A directory that is not there is
// fine.
func CheckDir(dir string) error {
	st, err := os.Stat(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("look at the data directory: %w", err)
	case st.Mode()&os.ModeDevice != 0:
		return hint.New(fmt.Errorf("%s is a device: a server's data is never put on a raw device: %w", dir, ErrNotOurs),
			"make a file system on it, mount it and name a directory on it")
	case !st.IsDir():
		return fmt.Errorf("%s is not a directory: %w", dir, ErrNotOurs)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("look at the data directory: %w", err)
	}
	if len(entries) > 0 && !isOurs(dir) {
		return hint.New(fmt.Errorf("%s is not empty and holds no data set of tare: %w", dir, ErrNotOurs), "name an empty or a new directory")
	}
	return nil
}
