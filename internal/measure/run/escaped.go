package run

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/tarelab/tare/internal/loads/load"
)

// runVariable is in the environment of all that a run starts, and of what that starts in turn. A command gets it
// without the prefix (load.CommandEnv).
const runVariable = "TARE_RUN_ID"

// environ is the environment of a task with the run's own variable.
func (r *runner) environ(of []string) []string {
	return append(slices.Clone(of), load.CommandEnv+runVariable+"="+r.config.ID)
}

// warnOfEscaped warns of processes that are left when all arms are closed: a command can start some outside of the
// control groups and the session in which tare ends everything.
func (r *runner) warnOfEscaped() {
	if pids := startedBy(r.config.ID); len(pids) > 0 {
		r.rec.warn(escaped(pids).of("", ""))
	}
}

// startedBy are the processes with a run's variable in their environment, as far as this user may read it.
func startedBy(id string) (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is valid
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(b, []byte(runVariable+"="+id+"\x00")) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}
