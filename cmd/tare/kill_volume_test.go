package main

import (
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

// A run that is killed while its arms work on file systems of their own leaves
// mounts, loop devices and files; cleanup takes all of them back.
func TestKillOnLoopDevices(t *testing.T) {
	testneed.Root(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	state := t.TempDir()
	dir := filepath.Join(state, "result")
	tool := func(args ...string) *exec.Cmd {
		cmd := exec.Command(self, append([]string{"__cli"}, args...)...)
		cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+state)
		return cmd
	}
	run := tool("run", "--set=commit.log=1MiB", "--workload=commit", "--arms=rootfs", "--volume=loop:ext4", "--budget=60s", "-o", dir)
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { run.Wait(); close(ended) }()
	for measuring := false; !measuring; {
		select {
		case <-ended:
			t.Fatal("the run ended before it was killed")
		case <-time.After(20 * time.Millisecond):
		}
		b, _ := os.ReadFile(filepath.Join(dir, record.RecordFile))
		measuring = strings.Contains(string(b), `"block"`)
	}
	id := runID(dir)
	if len(devicesOf(id)) < 3 {
		t.Errorf("the loop devices of run %s are %v, want one for each arm", id, devicesOf(id))
	}
	run.Process.Signal(syscall.SIGKILL)
	<-ended
	if out, err := tool("cleanup").CombinedOutput(); err != nil {
		t.Errorf("cleanup: %v\n%s", err, out)
	}
	for _, left := range leftOf(id) {
		t.Errorf("left: %s", left)
	}
	// The kernel lets go of a device when its last user has ended.
	for range 500 {
		if len(devicesOf(id)) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("left: %v", devicesOf(id))
}

// devicesOf are the loop devices on files of a run.
func devicesOf(id string) (all []string) {
	files, _ := filepath.Glob("/sys/block/loop*/loop/backing_file")
	for _, f := range files {
		if b, _ := os.ReadFile(f); strings.Contains(string(b), "tare-"+id) {
			all = append(all, f+": "+strings.TrimSpace(string(b)))
		}
	}
	return all
}
