package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/tarelab/tare/internal/testing/testneed"
)

// daemonized is a command that once starts a process that leaves the command's control groups and session, as a daemon
// does that systemd or an engine starts.
const daemonized = `workloads:
  left:
    kind: command
    params:
      shell: on
      command: "! mkdir %[1]s 2>/dev/null || { for f in /sys/fs/cgroup/cgroup.procs /sys/fs/cgroup/*/cgroup.procs; do [ ! -e $f ] || echo 0 2>/dev/null >$f; done; setsid sleep 321 & }; sleep 0.02"
arms: {host: {environment: host}, again: {environment: host}}
`

// A process that a command started outside of tare's groups is counted and named at the end.
func TestCommandLeavesAProcess(t *testing.T) {
	testneed.Root(t)
	home := t.TempDir()
	file := filepath.Join(home, "left.yaml")
	must(t, os.WriteFile(file, []byte(fmt.Sprintf(daemonized, filepath.Join(home, "once"))), 0o600))
	out, code := tareSays(t, home, "run", file, "--budget", "12s", "-q", "-o", filepath.Join(home, "r"))
	said, _ := tareSays(t, home, "report", filepath.Join(home, "r"), "-v")
	m := regexp.MustCompile(`kill (\d+)`).FindStringSubmatch(said)
	if m == nil || !strings.Contains(strings.Join(strings.Fields(said), " "), "1 process that a command of the run started left its control groups") {
		t.Fatalf("%d %s\n%s", code, out, said)
	}
	pid, err := strconv.Atoi(m[1])
	must(t, err)
	if name := read(fmt.Sprintf("/proc/%d/cmdline", pid)); name != "sleep\x00321" && name != "sleep\x00321\x00" {
		t.Errorf("process %d is %q", pid, name)
		return
	}
	must(t, syscall.Kill(pid, syscall.SIGKILL))
}
