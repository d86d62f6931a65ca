package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/undo/hostlock"
)

// stuck is longer than any command line of these tests takes. A command that does not end by itself
// is ended then. held is how long its output may stay open after its end.
const (
	stuck = 6 * time.Minute
	held  = time.Minute
)

// commandLine is tare, by this binary, with its state in one directory and its data sets in
// another. If it is stuck, it prints the stacks of its goroutines.
func commandLine(t *testing.T, home, cache string, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), stuck)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "/proc/self/exe", append([]string{"__cli"}, args...)...)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(home, "state"), hostlock.DirEnv+"="+home, "XDG_CACHE_HOME="+cache)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) }
	cmd.WaitDelay = held
	return cmd
}

// tareSays runs tare and returns what it prints, with its exit code.
func tareSays(t *testing.T, home string, args ...string) (string, int) {
	t.Helper()
	cmd := commandLine(t, home, home, args...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}
