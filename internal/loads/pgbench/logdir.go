package pgbench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/tarelab/tare/internal/loads/load"
	"github.com/tarelab/tare/internal/wire/hidden"
)

// logDir is a directory for the names of pgbench's logs. The client's account may neither search the
// directories above it nor remove it. So pgbench gets it as a descriptor, and a child that keeps
// tare's account removes it, also if this process is killed.
type logDir struct {
	path string
	dir  *os.File
	stop io.Closer // standard input of tidy, which removes the directory at its end
	tidy *exec.Cmd
}

const logDirPrefix = "tare-pgbench-"

func makeLogDir(parent string) (_ *logDir, err error) {
	d := &logDir{}
	if d.path, err = os.MkdirTemp(parent, logDirPrefix); err != nil {
		return nil, fmt.Errorf("make a directory for logs: %w", err)
	}
	params, err := json.Marshal(d.path)
	if err != nil {
		return nil, err
	}
	if d.dir, err = os.Open(d.path); err == nil {
		d.tidy = exec.Command("/proc/self/exe", load.Command, KindTidy, string(params))
		d.tidy.Stderr = os.Stderr
		if d.stop, err = d.tidy.StdinPipe(); err == nil {
			err = d.tidy.Start()
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("guard the directory for logs: %w", err), os.RemoveAll(d.path))
	}
	return d, nil
}

// inherited adds the directory to pgbench's descriptors and sets the prefix of the logs.
func (d *logDir) inherited(files []*os.File, child *pgbenchExec) ([]*os.File, error) {
	child.Prefix = filepath.Join(load.Inherited(firstFile+len(files)), "log")
	return append(files, d.dir), nil
}

// remove removes the directory with its content.
func (d *logDir) remove() error { return errors.Join(d.stop.Close(), d.tidy.Wait()) }

// tidy waits for the end of its standard input and removes the directory.
func tidy(_ context.Context, params []byte) error {
	var path string
	if err := hidden.Decode(params, &path); err != nil {
		return err
	}
	if !strings.HasPrefix(filepath.Base(path), logDirPrefix) {
		return fmt.Errorf("%s is no directory for logs", path)
	}
	_, _ = io.Copy(io.Discard, os.Stdin) // ends when the load closes it or dies
	return os.RemoveAll(path)
}
