package run

import (
	"os"
	"os/exec"
	"runtime"
	"testing"

	"github.com/tarelab/tare/internal/testing/testneed"
)

// TestOnlineCPUsWherePinned checks that a number of the host does not follow tare's own mask.
func TestOnlineCPUsWherePinned(t *testing.T) {
	const marker = "TARETEST_PINNED"
	if os.Getenv(marker) != "" {
		if n := onlineCPUs(); n < 2 || runtime.NumCPU() != 1 {
			t.Errorf("%d CPUs are online, %d in the mask", n, runtime.NumCPU())
		}
		return
	}
	if onlineCPUs() < 2 {
		t.Skip("needs two CPUs")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(testneed.Tool(t, "taskset"), "-c", "0", self, "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), marker+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
