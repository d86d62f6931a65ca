package testneed

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// HogPlaces are where Hogs can put its processes.
var HogPlaces = []string{"in the same session", "in another session", "in the root group", "in a group"}

// Hogs runs two busy processes that tare does not know, until the end of the test. place is one of
// HogPlaces: the kernel divides CPU time among the groups of the cpu controller, and in the root
// group among sessions (autogroups).
func Hogs(t testing.TB, place string) {
	t.Helper()
	root := cpuGroups(t)
	group := ""
	switch place {
	case HogPlaces[2]:
		group = root
	case HogPlaces[3]:
		group = filepath.Join(root, fmt.Sprintf("taretest-hogs-%d", os.Getpid()))
		if err := os.Mkdir(group, 0o755); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := os.Remove(group); err != nil {
				t.Error(err)
			}
		})
	}
	for range 2 {
		hog := exec.Command("sh", "-c", "while :; do :; done")
		hog.SysProcAttr = &syscall.SysProcAttr{Setsid: place != HogPlaces[0], Pdeathsig: syscall.SIGKILL}
		if err := hog.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = hog.Process.Kill()
			_ = hog.Wait()
		})
		if group == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(group, "cgroup.procs"), fmt.Append(nil, hog.Process.Pid), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// cpuGroups is the root of the cpu controller's groups.
func cpuGroups(t testing.TB) string {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mounts)) {
		f := strings.Fields(line)
		if len(f) < 4 {
			continue
		}
		controllers, _ := os.ReadFile(filepath.Join(f[1], "cgroup.controllers"))
		if f[2] == "cgroup" && strings.Contains(","+f[3]+",", ",cpu,") || f[2] == "cgroup2" && strings.Contains(" "+string(controllers), " cpu ") {
			return f[1]
		}
	}
	t.Skip("this host has no cpu controller")
	return ""
}
