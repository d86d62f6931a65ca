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

	"github.com/tarelab/tare/internal/linux/account"
	"github.com/tarelab/tare/internal/linux/child"
)

// Process is a child that dies with this process.
type Process struct {
	// As is the account that root has started it as; nil: whoever this process is.
	As *account.Account

	cmd  *exec.Cmd
	name string
	done chan struct{}
	err  error // valid after done
	tail *tail
}

// Start starts a child. What it writes goes to log, and its last lines are
// kept for errors.
func Start(cmd *exec.Cmd, name string, log io.Writer) (*Process, error) {
	return startAfter(nothing, cmd, name, log)
}

func nothing() error { return nil }

// startAfter calls a function first, on the thread that starts the child.
func startAfter(before func() error, cmd *exec.Cmd, name string, log io.Writer) (*Process, error) {
	p := &Process{cmd: cmd, name: name, done: make(chan struct{}), tail: &tail{}}
	cmd.Stdout = io.MultiWriter(log, p.tail)
	cmd.Stderr = cmd.Stdout
	cmd.WaitDelay = time.Second // a grandchild may hold the pipe
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	err := child.StartAfter(cmd, before, func(err error) {
		if !errors.Is(err, exec.ErrWaitDelay) { // it has ended well, and something holds the pipe
			p.err = err
		}
		close(p.done)
	})
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return p, nil
}

// Done is closed when it has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Alive is nil while it runs, and then says how it ended, with its last words.
func (p *Process) Alive() error {
	select {
	case <-p.done:
		return p.Ended()
	default:
		return nil
	}
}

// Ended says how it ended, with its last words; valid after Done. It is an
// error whatever the exit code.
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

// OK says whether it ended with exit code 0; valid after Done.
func (p *Process) OK() bool { return p.err == nil }

// Signal sends a signal; one that has ended is left alone.
func (p *Process) Signal(s os.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("send %v to %s: %w", s, p.name, err)
	}
	return nil
}

// Stop asks it to end and waits. When it has not ended within the limit it is
// killed, which is an error: what it wanted to write was not written.
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

// Kill ends it at once and waits.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // it may have ended
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

// Write takes part of a log.
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
	if len(t.rest) > 1<<16 { // no line
		t.add(string(t.rest))
		t.rest = nil
	}
	return len(b), nil
}

// frame is a line of a stack trace as ClickHouse prints it.
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

// last is what to show of it below an error: lines that speak of an error
// where there are any, else the last ones.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.rest) > 0 {
		t.add(string(t.rest))
		t.rest = nil
	}
	var bad []string
	for _, l := range t.lines {
		if speaksOfError(l) {
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

// speaksOfError says whether a line of a server's log is about what went
// wrong.
func speaksOfError(line string) bool {
	if strings.Contains(line, "the database system is starting up") {
		return false // PostgreSQL's answer to who asks whether it is ready
	}
	if strings.Contains(line, "FATAL CONFIG FILE ERROR") {
		return false // of Redis, which says what is wrong on the lines that follow
	}
	for _, word := range []string{"[ERROR]", "FATAL", "PANIC", "was terminated by signal", "<Error>", "<Fatal>"} {
		if strings.Contains(line, word) {
			return true
		}
	}
	return false
}
