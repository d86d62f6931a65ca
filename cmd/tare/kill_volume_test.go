package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/undo/hostlock"
	"github.com/tarelab/tare/record"
)

// onVolume is a run of commits on file systems of their own.
type onVolume struct {
	t     *testing.T
	state string
	dir   string // of the result
	cmd   *exec.Cmd
	ended chan struct{}
}

// startOn starts one and returns when it measures.
func startOn(t *testing.T, volume string) *onVolume {
	t.Helper()
	testneed.Root(t)
	state := t.TempDir()
	v := &onVolume{t: t, state: state, dir: filepath.Join(state, "result"), ended: make(chan struct{})}
	v.cmd = v.tool("run", "--set=commit.log=1MiB", "--workload=commit", "--arms=rootfs", "--volume="+volume, "--budget=10m", "-o", v.dir)
	if err := v.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { v.cmd.Wait(); close(v.ended) }()
	for measuring := false; !measuring; {
		select {
		case <-v.ended:
			t.Fatal("the run ended before it was killed")
		case <-time.After(20 * time.Millisecond):
		}
		b, _ := os.ReadFile(filepath.Join(v.dir, record.RecordFile))
		measuring = strings.Contains(string(b), `"block"`)
	}
	return v
}

// tool runs tare with the state of this run.
func (v *onVolume) tool(args ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		v.t.Fatal(err)
	}
	cmd := exec.Command(self, append([]string{"__cli"}, args...)...)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+v.state, hostlock.DirEnv+"="+v.state)
	return cmd
}

// end sends the run a signal and waits for its end.
func (v *onVolume) end(s syscall.Signal) {
	v.cmd.Process.Signal(s)
	<-v.ended
}

// cleanup takes back what a kill left.
func (v *onVolume) cleanup() {
	v.t.Helper()
	if out, err := v.tool("cleanup").CombinedOutput(); err != nil {
		v.t.Errorf("cleanup: %v\n%s", err, out)
	}
}

// gone fails if anything is left on the host.
func (v *onVolume) gone() {
	v.t.Helper()
	id := runID(v.dir)
	for _, left := range leftOf(id) {
		v.t.Errorf("left: %s", left)
	}
	// The kernel detaches a device when its last user has ended.
	for range 500 {
		if len(devicesOf(id)) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	v.t.Errorf("left: %v", devicesOf(id))
}

// devicesOf returns the loop devices on files of a run.
func devicesOf(id string) (all []string) {
	files, _ := filepath.Glob("/sys/block/loop*/loop/backing_file")
	for _, f := range files {
		if b, _ := os.ReadFile(f); strings.Contains(string(b), "tare-"+id) {
			all = append(all, f+": "+strings.TrimSpace(string(b)))
		}
	}
	return all
}

// A run that is killed while its arms work on file systems of their own leaves mounts, loop devices
// and files; cleanup takes all of them back.
func TestKillOnLoopDevices(t *testing.T) {
	t.Parallel()
	v := startOn(t, "loop:ext4")
	if id := runID(v.dir); len(devicesOf(id)) < 3 {
		t.Errorf("the loop devices of run %s are %v, want one for each arm", id, devicesOf(id))
	}
	v.end(syscall.SIGKILL)
	v.cleanup()
	v.gone()
}
