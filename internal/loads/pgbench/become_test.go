package pgbench_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/databases/serve"
	driver "github.com/tarelab/tare/internal/loads/pgbench"
	"github.com/tarelab/tare/internal/testing/workloadtest"
)

// The executed program ends with its parent, also if another thread executes it than the one that was
// started.
func TestBecomeEndsWithItsParent(t *testing.T) {
	again := exec.Command("/proc/self/exe", "-test.run=^TestBecomeEndsWithItsParent$")
	switch os.Getenv("BECOME") {
	case "parent":
		again.Env = append(os.Environ(), "BECOME=child")
		if _, err := serve.Start(again, "sleep", io.Discard); err != nil {
			t.Fatal(err)
		}
		fmt.Println("started", again.Process.Pid)
		select {}
	case "child":
		elsewhere(func() { t.Error(driver.Become(t.Context(), []byte(`{"path":"/bin/sleep","args":["1000"]}`))) })
		return
	}
	again.Env = append(os.Environ(), "BECOME=parent")
	out, err := again.StdoutPipe()
	if err == nil {
		err = again.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	pid := 0
	for s := bufio.NewScanner(out); pid == 0 && s.Scan(); {
		_, _ = fmt.Sscanf(s.Text(), "started %d", &pid)
	}
	is := func() bool {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		return strings.HasPrefix(string(b), "/bin/sleep")
	}
	workloadtest.Eventually(t, "sleeping", is)
	_ = again.Process.Kill()
	_ = again.Wait()
	defer func() {
		if is() {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	}()
	workloadtest.Eventually(t, "ended with its parent", func() bool { return !is() })
}

// elsewhere calls f on a thread that is not the process's first.
func elsewhere(f func()) {
	runtime.LockOSThread()
	if unix.Gettid() != unix.Getpid() {
		f()
		return
	}
	done := make(chan struct{})
	go func() { defer close(done); elsewhere(f) }()
	<-done
}
