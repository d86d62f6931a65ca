package journal

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
)

// endBound is how long the processes of a runtime directory may take to be gone.
const endBound = time.Minute

// EndRuntime ends every process of this user that has a directory as its
// XDG_RUNTIME_DIR, and waits until none is left to write there.
func EndRuntime(dir string) error {
	const turn = 10 * time.Millisecond
	for range int(endBound / turn) {
		pids := havingRuntime(dir)
		if len(pids) == 0 {
			return nil
		}
		for _, pid := range pids {
			if err := unix.Kill(pid, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
				return fmt.Errorf("end process %d: %w", pid, err)
			}
		}
		time.Sleep(turn)
	}
	return fmt.Errorf("processes %v with XDG_RUNTIME_DIR=%s do not end", havingRuntime(dir), dir)
}

// havingRuntime leaves out what this user may not look at: it is not this user's.
func havingRuntime(dir string) (pids []int) {
	all, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is good
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
