package serve

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/linux/account"
	"github.com/tarelab/tare/internal/linux/clonetree"
)

// trialBound bounds the time of a call of a server program that ends by itself.
const trialBound = 20 * time.Second

// scene is a new directory in which a server program is called, by an account without rights if possible.
type scene struct {
	path, dir string
	at        *os.File // dir, which the account may not reach by its path; nil: this process' own account
	account   account.Account
}

// newScene makes the directory in temp, with files; empty: in the system's temporary directory.
func newScene(path, temp string, files []db.File) (s *scene, err error) {
	s = &scene{path: path}
	if s.dir, err = os.MkdirTemp(temp, "tare-version-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.end()
		}
	}()
	for _, f := range files {
		target := filepath.Join(s.dir, f.Path)
		if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(target, []byte(f.Text), 0o600); err != nil {
			return nil, err
		}
	}
	a, ok := account.Safe(path)
	if !ok {
		return s, nil
	}
	if err := clonetree.GiveAll(s.dir, a.UID, a.GID); err != nil {
		return nil, err
	}
	s.account = a
	s.at, err = os.Open(s.dir)
	return s, err
}

// command is a call of the program in the directory.
func (s *scene) command(ctx context.Context, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.path, args...)
	cmd.Dir = s.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if s.at != nil {
		cmd.Dir = fmt.Sprintf("/proc/self/fd/%d", s.at.Fd())
		cmd.SysProcAttr.Credential = s.account.Credential()
	}
	return cmd
}

// end removes the directory.
func (s *scene) end() {
	if s.at != nil {
		s.at.Close()
	}
	_ = os.RemoveAll(s.dir) // it is in a directory for temporary files
}
