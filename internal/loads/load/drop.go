package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/account"
	"github.com/tarelab/tare/internal/linux/clonetree"
	"github.com/tarelab/tare/internal/linux/memfd"
	"github.com/tarelab/tare/internal/undo/trust"
	"github.com/tarelab/tare/internal/wire/counter"
)

// A load does not run as root. It becomes nobody, or the server's account if it starts the server
// itself: that account may open the server's socket. If root cannot become that account, the load
// runs as root, and its log has the reason.

// asNobody runs a load after it became nobody.
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

// BecomeNobody gives the data directory of a load to nobody and makes this process nobody. dir is
// "" for a load without data; program is what the load will start, "" for none.
func BecomeNobody(dir, program string) error {
	who := account.Nobody
	if os.Geteuid() != 0 {
		return nil
	}
	err := canBecome(who, dir, program)
	if err == nil && dir != "" {
		err = giveDir(dir, who)
	}
	if err != nil {
		warnRoot(err)
		return nil
	}
	return who.Become()
}

func giveDir(dir string, who account.Account) error {
	if filepath.Clean(dir) == "/" {
		return errors.New("its directory is the root directory")
	}
	return clonetree.GiveAll(dir, who.UID, who.GID)
}

// canBecome is why root cannot become an account that reaches a directory and a program; nil if
// it can.
func canBecome(who account.Account, dir, program string) error {
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

func warnRoot(why error) { fmt.Fprintf(os.Stderr, "tare: the load runs as root: %v\n", why) }

// Become makes this process, the client of a server, another account; it must have read all that
// only root may read. program is what it will start, "" for none. The account becomes the owner of
// the directories in owned.
func (a *Attached) Become(program string, owned ...string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	who, dir := account.Nobody, ""
	if a.Process != nil {
		if a.Process.As == nil {
			warnRoot(errors.New("so does its server"))
			return nil
		}
		who, dir = *a.Process.As, a.Server.Dir
	}
	err := canBecome(who, dir, program)
	for _, d := range owned {
		if err == nil {
			err = giveDir(d, who)
		}
	}
	if err != nil {
		warnRoot(err)
		return nil
	}
	return who.Become()
}

// Script is a script for a client: one of the client's own (text is nil) or a file of the user's.
// A file that the client may not read is handed over as a copy in memory.
type Script struct {
	path string
	text []byte
}

// ReadScript reads the user's file at a path, before this process gives up root.
func ReadScript(path string) (Script, error) {
	text, err := trust.ReadGiven(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Script{}, fmt.Errorf("read the script: %w: a client in a pod sees no files of the host; client=outside does", err)
	case err != nil:
		return Script{}, fmt.Errorf("read the script: %w", err)
	}
	return Script{path, text}, nil
}

// Open returns the name under which a program opens the script: its path, or, if this process
// cannot read the file, descriptor next of a copy in memory. The caller closes the copy.
func (s Script) Open(next int) (name string, copied *os.File, err error) {
	if s.text == nil || unix.Access(s.path, unix.R_OK) == nil {
		return s.path, nil, nil
	}
	copied, err = memfd.Create("tare-script", s.text)
	return Inherited(next), copied, err
}

// Generated is a script that tare makes.
func Generated(text []byte) Script { return Script{text: text} }

// Text is the content of the user's file.
func (s Script) Text() []byte { return s.text }

// Builtin is a script that the client itself has.
func Builtin(name string) Script { return Script{path: name} }
