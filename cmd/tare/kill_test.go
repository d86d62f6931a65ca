package main

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/testneed"
	"github.com/tarelab/tare/record"
)

// TestKill kills a run with SIGKILL at 20 random instants. Each time the record
// must be readable as far as it got, and after tare cleanup nothing of the run
// may be left on the host.
func TestKill(t *testing.T) {
	testneed.Long(t, "kill")
	testneed.Root(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(2026, 11))
	for i := range 20 {
		after := time.Duration(rng.Float64() * float64(9*time.Second))
		kind := []string{"oltp-read-write", "commit", "rpc"}[i%3]
		state := t.TempDir()
		dir := filepath.Join(state, "result")
		tool := func(args ...string) *exec.Cmd {
			cmd := exec.Command(self, append([]string{"__cli"}, args...)...)
			cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+state)
			return cmd
		}
		run := tool("run", "--workload", kind, "--budget", "30s", "-o", dir)
		if err := run.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(after)
		run.Process.Signal(syscall.SIGKILL)
		run.Wait()
		lines := readable(t, tool, dir)
		if out, err := tool("cleanup").CombinedOutput(); err != nil {
			t.Errorf("kill %d after %v: cleanup: %v\n%s", i, after, err, out)
		}
		id := runID(dir)
		t.Logf("kill %2d after %4.1f s of %s: run %s, %d lines", i, after.Seconds(), kind, id, lines)
		if id == "" {
			continue
		}
		for _, left := range leftOf(id) {
			t.Errorf("kill %d after %v: left: %s", i, after, left)
		}
	}
}

// readable wants that tare report reads whatever the kill left, and counts the
// lines. A kill before the record exists leaves nothing to read.
func readable(t *testing.T, tool func(...string) *exec.Cmd, dir string) int {
	t.Helper()
	if runID(dir) == "" {
		return 0
	}
	r, err := record.Read(dir)
	if err != nil {
		t.Errorf("the record is not readable: %v", err)
		return 0
	}
	if out, err := tool("report", dir).CombinedOutput(); err != nil {
		t.Errorf("tare report: %v\n%s", err, out)
	}
	return len(r.Lines)
}

// runID is the id of the run in a result directory; empty when the kill came
// before its first line was written.
func runID(dir string) string {
	b, err := os.ReadFile(filepath.Join(dir, record.RecordFile))
	if err != nil {
		return ""
	}
	first, _, whole := strings.Cut(string(b), "\n")
	var l record.Line
	if !whole || json.Unmarshal([]byte(first), &l) != nil || l.Run == nil {
		return ""
	}
	return l.Run.ID
}
