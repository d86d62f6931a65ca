package steps

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A process with the directory as its own is killed, another is not.
func TestUndoRuntime(t *testing.T) {
	dir := t.TempDir()
	runtime := filepath.Join(dir, "tare-r1-x")
	if err := os.Mkdir(runtime, 0o700); err != nil {
		t.Fatal(err)
	}
	start := func(env string) *exec.Cmd {
		cmd := exec.Command("sleep", "1000")
		cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+env)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	its, other := start(runtime), start(runtime+"y")
	ended := make(chan struct{})
	go func() { _ = its.Wait(); close(ended) }()
	if err := (Runtime{runtime}).Undo(nil); err != nil {
		t.Error(err)
	}
	<-ended
	if _, err := os.Stat(runtime); !os.IsNotExist(err) {
		t.Errorf("the directory is left: %v", err)
	}
	if err := (Runtime{runtime}).Undo(nil); err != nil {
		t.Errorf("once more: %v", err)
	}
	if err := other.Process.Signal(os.Kill); err != nil {
		t.Errorf("another process has ended: %v", err)
	}
	_ = other.Wait()
	if err := (Runtime{dir}).Check("r1"); err == nil {
		t.Error("a directory that is not the run's")
	}
}
