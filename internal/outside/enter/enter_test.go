package enter

import (
	"os/exec"
	"strings"
	"testing"
)

// The shim is found although runc, which executed the helper in its container, ends during
// the search.
func TestContainerRuntime(t *testing.T) {
	shim := &exec.Cmd{Path: "/bin/sh", Args: []string{"/usr/bin/containerd-shim-runc-v2", "-c", "read line; exit 0", "-address", "/run/own.sock"}}
	held, err := shim.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := shim.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { held.Close(); _ = shim.Wait() }()
	runc := exec.Command("/bin/sh", "-c", "exit 0")
	if err := runc.Run(); err != nil {
		t.Fatal(err)
	}
	asked := 0
	pid, address := containerRuntime(func() int {
		if asked++; asked < 3 {
			return runc.Process.Pid
		}
		return shim.Process.Pid
	})
	if pid != shim.Process.Pid || address != "/run/own.sock" || asked != 3 {
		t.Errorf("%d at %q after %d looks, want %d", pid, address, asked, shim.Process.Pid)
	}
}

// Commands that read files alone stay in the container, with flags before the command or without.
func TestAboutHost(t *testing.T) {
	for line, want := range map[string]bool{
		"run": true, "run quick --budget 1m": true, "--color never doctor": true, "--lang=zh plan": true, "cleanup -n": true,
		"list": false, "list run": false, "report r": false, "check run": false, "import a=run": false, "version": false, "": false, "--color run list": false,
	} {
		if got := isAboutHost(strings.Fields(line)); got != want {
			t.Errorf("tare %s: %v", line, got)
		}
	}
}
