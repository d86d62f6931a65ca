package pgbench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/stdio"
	"github.com/tarelab/tare/internal/loads/load"
	tool "github.com/tarelab/tare/internal/logs/pgbench"
	"github.com/tarelab/tare/internal/wire/hidden"
)

// addPipes makes a pipe for each log and adds the write ends to files.
func (p *pgbenchRun) addPipes(files []*os.File) ([]*os.File, error) {
	for range p.Threads {
		r, w, err := os.Pipe()
		if err != nil {
			return files, fmt.Errorf("make a pipe for pgbench's log: %w", err)
		}
		p.pipes, files = append(p.pipes, r), append(files, w)
		// A failure leaves the pipe smaller, so that pgbench may have to wait for this process.
		_, _ = unix.FcntlInt(r.Fd(), unix.F_SETPIPE_SZ, pipeBytes)
	}
	return files, nil
}

// awaitLogs waits until pgbench has opened its logs.
func (p *pgbenchRun) awaitLogs(prefix string) error {
	for _, r := range p.pipes {
		s, err := stdio.New(p.pid, r)
		if err != nil {
			return err
		}
		p.streams, p.pieces = append(p.streams, s), append(p.pieces, tool.Pieces{})
	}
	inherited := func(s *stdio.Stream) bool { return s.Opened() < 2 } // not yet opened by its name
	for end := time.Now().Add(openTimeout); slices.ContainsFunc(p.streams, inherited); time.Sleep(time.Millisecond) {
		if err := p.checkAlive(); err != nil {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("pgbench did not open its log %s within %v", filepath.Base(prefix), openTimeout)
		}
	}
	return nil
}

// findBuffers finds glibc's buffer of each log in pgbench's memory, so that each transaction is counted
// when it ends. Without the buffer, transactions are counted in blocks of some dozens, when glibc
// flushes it; the load's log has the reason.
func (p *pgbenchRun) findBuffers(ctx context.Context) error {
	p.exact = len(p.pipes) > 0
	for _, s := range p.streams {
		var err error
		for end := time.Now().Add(openTimeout); ; time.Sleep(time.Millisecond) {
			if err = s.Find(); !errors.Is(err, stdio.ErrNotFound) || time.Now().After(end) {
				break
			}
			if err := errors.Join(ctx.Err(), p.checkAlive()); err != nil {
				return err
			}
		}
		if err != nil {
			p.exact = false
			fmt.Fprintf(os.Stderr, "tare: transactions are counted in blocks: %v\n", err)
		}
	}
	return nil
}

// pgbenchExec are the parameters of KindExec.
type pgbenchExec struct {
	Path string   `json:"path"`
	Args []string `json:"args"`
	// Prefix is the prefix of the logs' names; there are Threads logs. First is the inherited
	// descriptor of the first pipe.
	Prefix  string `json:"prefix,omitempty"`
	Threads int    `json:"threads,omitempty"`
	First   int    `json:"first,omitempty"`
}

// Become makes links to the pipes, with the names that pgbench gives its logs (they have its pid),
// and executes pgbench.
func Become(_ context.Context, params []byte) error {
	var p pgbenchExec
	if err := hidden.Decode(params, &p); err != nil {
		return err
	}
	for i := range p.Threads {
		name := p.Prefix + "." + strconv.Itoa(os.Getpid())
		if i > 0 {
			name += "." + strconv.Itoa(i)
		}
		if err := os.Symlink(load.Inherited(p.First+i), name); err != nil {
			return fmt.Errorf("name a log: %w", err)
		}
	}
	// The parent-death signal belongs to a thread, and this thread need not be the one that was
	// started with it. Without this call pgbench could outlive tare.
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("ask to end with the parent: %w", err)
	}
	return fmt.Errorf("execute %s: %w", p.Path, syscall.Exec(p.Path, append([]string{p.Path}, p.Args...), os.Environ()))
}
