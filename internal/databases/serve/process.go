package serve

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/linux/account"
	"github.com/tarelab/tare/internal/linux/child"
)

// Process is a child that dies with this process.
type Process struct {
	// As is the account of the child if root started it as another one; nil otherwise.
	As *account.Account

	cmd  *exec.Cmd
	name string
	done chan struct{}
	err  error // valid after done
	tail *tail
}

// Start starts a child. Its output goes to log; errors show its last lines.
func Start(cmd *exec.Cmd, name string, log io.Writer) (*Process, error) {
	return startAfter(nothing, cmd, name, log)
}

func nothing() error { return nil }

// startAfter is Start, but first calls before on the thread that forks the child.
func startAfter(before func() error, cmd *exec.Cmd, name string, log io.Writer) (*Process, error) {
	p := &Process{cmd: cmd, name: name, done: make(chan struct{}), tail: &tail{}}
	cmd.Stdout = io.MultiWriter(log, p.tail)
	cmd.Stderr = cmd.Stdout
	cmd.WaitDelay = time.Second // a grandchild may hold the pipe open
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	err := child.StartAfter(cmd, before, func(err error) {
		if !errors.Is(err, exec.ErrWaitDelay) { // exit code 0, but a grandchild holds the pipe open
			p.err = err
		}
		close(p.done)
	})
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return p, nil
}

// Done is closed when the child has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Alive returns nil while the child runs, and the error of Ended when it has ended.
func (p *Process) Alive() error {
	select {
	case <-p.done:
		return p.Ended()
	default:
		return nil
	}
}

// Ended returns an error, also for exit code 0: how the child ended, and the last lines of its output.
// It is valid after Done.
func (p *Process) Ended() error {
	how := "ended"
	var exit *exec.ExitError
	switch {
	case errors.As(p.err, &exit) && exit.Sys().(syscall.WaitStatus).Signaled():
		how = "was ended by " + unix.SignalName(exit.Sys().(syscall.WaitStatus).Signal())
	case p.err != nil:
		how = "ended: " + p.err.Error()
	}
	return fmt.Errorf("%s %s%s", p.name, how, p.tail.last())
}

// OK is true if the exit code was 0; it is valid after Done.
func (p *Process) OK() bool { return p.err == nil }

// Signal sends a signal; it does nothing after the child has ended.
func (p *Process) Signal(s os.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("send %v to %s: %w", s, p.name, err)
	}
	return nil
}

// Stop sends SIGTERM and waits. A child that has not ended within limit is killed, which is an error:
// it may not have written all its data.
func (p *Process) Stop(limit time.Duration) error {
	if err := p.Signal(unix.SIGTERM); err != nil {
		return err
	}
	select {
	case <-p.done:
		if !p.OK() {
			return p.Ended()
		}
		return nil
	case <-time.After(limit):
	}
	p.Kill()
	return fmt.Errorf("%s did not end within %v and was killed%s", p.name, limit, p.tail.last())
}

// abortLimit is how long the children of a server may take to end.
const abortLimit = 10 * time.Second

// abort ends a server whose data nobody needs, also while it runs a statement. PostgreSQL's children end with
// SIGQUIT to their parent; after SIGKILL they would go on until they notice its end.
func (p *Process) abort(r db.Recipe) {
	if r.Segment != "" && p.Signal(unix.SIGQUIT) == nil {
		select {
		case <-p.done:
		case <-time.After(abortLimit):
		}
	}
	p.Kill()
}

// Kill kills the child and waits for its end.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // it may have ended already
	<-p.done
}

// tail keeps the last lines of a log.
type tail struct {
	mu    sync.Mutex
	lines []string
	rest  []byte
}

const (
	tailLines = 60
	tailShown = 6
	tailWidth = 400
)

// Write takes a part of the log.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rest = append(t.rest, b...)
	for {
		i := bytes.IndexByte(t.rest, '\n')
		if i < 0 {
			break
		}
		t.add(string(t.rest[:i]))
		t.rest = t.rest[i+1:]
	}
	if len(t.rest) > 1<<16 { // too long for a line
		t.add(string(t.rest))
		t.rest = nil
	}
	return len(b), nil
}

// frame matches a line of ClickHouse's stack traces.
var frame = regexp.MustCompile(`^\d+\. .*\[0x[0-9a-f]+\]$`)

func (t *tail) add(line string) {
	if line = strings.TrimSpace(line); line == "" || frame.MatchString(line) {
		return
	}
	t.lines = append(t.lines, line[:min(len(line), tailWidth)])
	if len(t.lines) > tailLines {
		t.lines = t.lines[1:]
	}
}

// last is what an error shows of the log: the last lines that report an error, or the last lines if
// none does.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.rest) > 0 {
		t.add(string(t.rest))
		t.rest = nil
	}
	var bad []string
	for _, l := range t.lines {
		if reportsError(l) {
			bad = append(bad, l)
		}
	}
	if len(bad) == 0 {
		bad = t.lines
	}
	if len(bad) == 0 {
		return ""
	}
	return ":\n  " + strings.Join(bad[max(0, len(bad)-tailShown):], "\n  ")
}

// reportsError is true for a line of a server's log that reports an error.
func reportsError(line string) bool {
	if strings.Contains(line, "the database system is starting up") {
		return false // PostgreSQL's answer to a client while it starts
	}
	if strings.Contains(line, "FATAL CONFIG FILE ERROR") {
		return false // Redis prints the error on the next lines
	}
	for _, word := range []string{"[ERROR]", "FATAL", "PANIC", "was terminated by signal", "<Error>", "<Fatal>"} {
		if strings.Contains(line, word) {
			return true
		}
	}
	return false
}
