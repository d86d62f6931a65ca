package launch

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/proc"
)

// alone runs the test again in a process of its own, and is true there.
func alone(t *testing.T) bool {
	const marker = "TARETEST_ALONE"
	if os.Getenv(marker) == t.Name() {
		return true
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), marker+"="+t.Name())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

// TestContainerOfAnotherParent checks that a container whose exit status nobody can read has not ended well.
func TestContainerOfAnotherParent(t *testing.T) {
	if !alone(t) { // it waits for all children
		return
	}
	status, err := (&containerProcess{pid: 1}).wait()
	if !errors.Is(err, errNotChild) || !errors.Is(err, syscall.ECHILD) {
		t.Errorf("status %d, %v; want %v", status, err, errNotChild)
	}
}

// TestGuardOfAnEndedRun checks that a guard whose tare has ended stops nothing, although another process has tare's
// pid or is the guard's parent now.
func TestGuardOfAnEndedRun(t *testing.T) {
	own, err := proc.FS("/").Process(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	for name, tare := range map[string]relative{
		"another process has its pid": {os.Getpid(), own.Start - 1},
		"its pid is free":             {ended.Process.Pid, own.Start},
		"process 1":                   {1, 0},
	} {
		s, err := newWatchdog()
		if err != nil {
			t.Fatal(err)
		}
		child := busy(t, nil)
		const deadline = 1
		s.words.deadline.Store(deadline)
		w := &watch{watchdog: s, signals: true, tare: tare, groups: map[cgroup.Switch]bool{}}
		w.freeze(deadline)
		if p, err := proc.FS("/").Process(child.Pid); err != nil || p.State == 'T' {
			t.Errorf("%s: the child is in state %c, %v", name, p.State, err)
		}
		s.close()
	}
}
