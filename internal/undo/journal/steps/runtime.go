package steps

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/undo/journal"
)

// Runtime is the step for a directory that is the XDG_RUNTIME_DIR of processes, such as a rootless engine's.
// Its undo kills every such process of this user, and then removes the directory as Directory does.
type Runtime struct {
	Path string `json:"path,omitempty"`
}

// Kind is the word for it in a journal.
func (Runtime) Kind() string { return "runtime" }

// String names the directory.
func (r Runtime) String() string { return r.Kind() + " " + r.Path }

// Lasts is true: a disk keeps its directories.
func (Runtime) Lasts() bool { return true }

// Check refuses a directory whose name is not the run's.
func (r Runtime) Check(run string) error { return checkDirectory(r.Path, run) }

// Undo kills the processes, then removes the directory.
func (r Runtime) Undo(*journal.Undoing) error {
	if err := EndRuntime(r.Path); err != nil {
		return err
	}
	return RemoveDirectory(r.Path)
}

// endBound is how long the processes may take to end.
const endBound = time.Minute

// EndRuntime kills every process of this user with the directory as its XDG_RUNTIME_DIR, and
// waits until none is left that could write there.
func EndRuntime(dir string) error {
	const pause = 10 * time.Millisecond
	for range int(endBound / pause) {
		pids := havingRuntime(dir)
		if len(pids) == 0 {
			return nil
		}
		for _, pid := range pids {
			if err := unix.Kill(pid, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
				return fmt.Errorf("end process %d: %w", pid, err)
			}
		}
		time.Sleep(pause)
	}
	return fmt.Errorf("processes %v with XDG_RUNTIME_DIR=%s do not end", havingRuntime(dir), dir)
}

// havingRuntime are the processes with that XDG_RUNTIME_DIR. A process whose environment this
// user may not read is not this user's.
func havingRuntime(dir string) (pids []int) {
	all, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is valid
	for _, file := range all {
		b, err := os.ReadFile(file)
		if err != nil || !slices.Contains(strings.Split(string(b), "\x00"), "XDG_RUNTIME_DIR="+dir) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}
