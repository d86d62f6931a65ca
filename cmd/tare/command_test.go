package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/undo/hostlock"
)

// No command line of these tests takes as long as stuck, in which one is ended that does
// not end by itself, nor is its output open for longer than held after it.
const (
	stuck = 6 * time.Minute
	held  = time.Minute
)

// commandLine is tare, by this binary, with its state below a directory and its data sets
// in another. What is stuck says where each of its goroutines is.
func commandLine(t *testing.T, home, cache string, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), stuck)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "/proc/self/exe", append([]string{"__cli"}, args...)...)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(home, "state"), hostlock.DirEnv+"="+home, "XDG_CACHE_HOME="+cache)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) }
	cmd.WaitDelay = held
	return cmd
}
