package launch

import (
	"io"
	"os/exec"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/linux/cgroup"
)

// tare's binary in a container may have executed another program before tare looks, as for a database
// server.
func TestExecutedAndBecomeAnother(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "read now; exec sleep 100")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	held, err := openProcess(cmd.Process.Pid, cgroup.Group{})
	if err != nil {
		t.Fatal(err)
	}
	defer held.release()
	k := &container{Process: held}
	runtime, err := k.program() // stands for the runtime
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan error, 1)
	go func() { over <- k.executed(runtime) }()
	select {
	case err := <-over:
		t.Fatalf("it has executed nothing yet: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	if _, err := io.WriteString(in, "\n"); err != nil {
		t.Fatal(err)
	}
	if err := <-over; err != nil {
		t.Error(err)
	}
}
