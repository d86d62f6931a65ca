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

// logDir is a directory for the names of pgbench's logs. A client that is not root may
// neither pass to it nor remove it: pgbench is told its descriptor, and a process that
// stays what tare is removes it, also after the end of this one.
type logDir struct {
	path string
	dir  *os.File
	keep io.Closer // its end lets the other process remove the directory
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
		if d.keep, err = d.tidy.StdinPipe(); err == nil {
			err = d.tidy.Start()
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("keep the directory for logs: %w", err), os.RemoveAll(d.path))
	}
	return d, nil
}

// inherited adds the directory to what pgbench inherits.
func (d *logDir) inherited(files []*os.File, child *pgbenchExec) ([]*os.File, error) {
	child.Prefix = filepath.Join(load.Inherited(firstFile+len(files)), "log")
	return append(files, d.dir), nil
}

// remove removes it, if need be with what is in it.
func (d *logDir) remove() error { return errors.Join(d.keep.Close(), d.tidy.Wait()) }

// tidy is the other process.
func tidy(_ context.Context, params []byte) error {
	var path string
	if err := hidden.Decode(params, &path); err != nil {
		return err
	}
	if !strings.HasPrefix(filepath.Base(path), logDirPrefix) {
		return fmt.Errorf("%s is no directory for logs", path)
	}
	_, _ = io.Copy(io.Discard, os.Stdin) // it ends with the load
	return os.RemoveAll(path)
}
