package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/account"
	"github.com/tarelab/tare/internal/linux/clonetree"
	"github.com/tarelab/tare/internal/linux/memfd"
	"github.com/tarelab/tare/internal/undo/trust"
	"github.com/tarelab/tare/internal/wire/counter"
)

// A load is not root where this root can become another account: nobody, or, of a load in
// one arm with its server, the server's, which ends it and has its socket. Where that is
// not possible the load goes on as root, and its log says why.

// asNobody is a load that becomes nobody before it begins.
func asNobody(run func(context.Context, *counter.Memory, []byte) error) func(context.Context, *counter.Memory, []byte) error {
	return func(ctx context.Context, m *counter.Memory, params []byte) error {
		var p struct {
			Dir string `json:"dir"`
		}
		if err := json.Unmarshal(params, &p); err != nil {
			return fmt.Errorf("parameters: %w", err)
		}
		if err := BecomeNobody(p.Dir, ""); err != nil {
			return err
		}
		return run(ctx, m, params)
	}
}

// BecomeNobody gives nobody the data directory of a load and makes this process nobody. No
// directory: the load has none. The program is one that the load is going to start.
func BecomeNobody(dir, program string) error {
	who := account.Nobody
	if os.Geteuid() != 0 {
		return nil
	}
	err := may(who, dir, program)
	if err == nil && dir != "" {
		err = give(dir, who)
	}
	if err != nil {
		stays(err)
		return nil
	}
	return who.Become()
}

func give(dir string, who account.Account) error {
	if filepath.Clean(dir) == "/" {
		return errors.New("its directory is the root directory")
	}
	return clonetree.GiveAll(dir, who.UID, who.GID)
}

// may says why root cannot become an account that reaches a directory and a program.
func may(who account.Account, dir, program string) error {
	if !account.CanGive() || !who.Mapped() {
		return fmt.Errorf("this root may not become user %d", who.UID)
	}
	if !who.ExecutesSelf() {
		return fmt.Errorf("user %s may not execute tare itself", who.Name)
	}
	if program != "" && !who.Executes(program) {
		return fmt.Errorf("user %s may not execute %s", who.Name, program)
	}
	if dir == "" {
		return nil
	}
	blocked, err := who.Blocked(dir)
	if err == nil && blocked != "" {
		err = fmt.Errorf("user %s may not pass %s", who.Name, blocked)
	}
	return err
}

func stays(why error) { fmt.Fprintf(os.Stderr, "tare: the load runs as root: %v\n", why) }

// Become makes the client of a server another account, once it has all that root alone can
// read. The program is one that it is going to start; empty: none. The directories given
// are made the account's.
func (a *Attached) Become(program string, given ...string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	who, dir := account.Nobody, ""
	if a.Process != nil {
		if a.Process.As == nil {
			stays(errors.New("so does its server"))
			return nil
		}
		who, dir = *a.Process.As, a.Server.Dir
	}
	err := may(who, dir, program)
	for _, d := range given {
		if err == nil {
			err = give(d, who)
		}
	}
	if err != nil {
		stays(err)
		return nil
	}
	return who.Become()
}

// Script is a file of the user's for a client: by its path where the client may read it, else
// a copy in memory of what root has read. text is nil where there is none.
type Script struct {
	path string
	text []byte
}

// ReadScript reads the file at a path, as root if need be.
func ReadScript(path string) (Script, error) {
	text, err := trust.ReadGiven(path)
	if err != nil {
		return Script{}, fmt.Errorf("read the script: %w", err)
	}
	return Script{path, text}, nil
}

// Open is how a program is told the script: its path, or the next descriptor that it
// inherits, of a copy in memory to be closed, where this process cannot read the file.
func (s Script) Open(next int) (name string, copied *os.File, err error) {
	if s.text == nil || unix.Access(s.path, unix.R_OK) == nil {
		return s.path, nil, nil
	}
	copied, err = memfd.Create("tare-script", s.text)
	return Inherited(next), copied, err
}

// Text is what the file holds.
func (s Script) Text() []byte { return s.text }

// Builtin is a script that the program has itself.
func Builtin(name string) Script { return Script{path: name} }
