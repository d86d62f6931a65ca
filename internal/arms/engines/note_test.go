package engines

import (
	"os/exec"
	"slices"
	"syscall"
	"testing"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/internal/undo/journal/steps"
)

// The journal has the first process of a container outside of the arm's groups. The process of another
// container ends with its group.
func TestFirstProcessIsNoted(t *testing.T) {
	first := exec.Command("sleep", "1000")
	first.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = first.Process.Kill(), first.Wait() }()
	want, err := steps.ProcessOf(first.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	for user, noted := range map[string]bool{"jane": true, "": false} {
		state := t.TempDir()
		j, err := journal.Open(state, "r1")
		if err != nil {
			t.Fatal(err)
		}
		sb, err := launch.NewSandbox(environment.Spec{Run: "r1", Arm: "a", Scratch: t.TempDir(), Journal: j}, launch.Groups{})
		if err != nil {
			t.Fatal(err)
		}
		a := &arm{Sandbox: sb, kind: Podman, user: user}
		if err := a.recordProcess(first.Process.Pid); err != nil {
			t.Fatal(err)
		}
		left, err := journal.Leftovers(state, kinds())
		if err != nil || len(left) != 1 || slices.Contains(left[0].Steps, journal.Step(want)) != noted {
			t.Errorf("user %q: %+v %v", user, left, err)
		}
		if err := sb.Close(); err != nil {
			t.Error(err)
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	}
}
