package pods

import (
	"os"
	"strings"
	"testing"
)

// A directory that is mounted in a process's root is found on this host.
func TestOnHost(t *testing.T) {
	want, err := os.Stat("/proc")
	if err != nil {
		t.Fatal(err)
	}
	got, err := onHost(os.Getpid(), "/proc")
	if err != nil || strings.HasSuffix(got, "/root/proc") {
		t.Fatalf("%q, %v", got, err)
	}
	if st, err := os.Stat(got); err != nil || !os.SameFile(st, want) {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := onHost(os.Getpid(), t.TempDir()); err == nil {
		t.Errorf("nothing is mounted there, and it is found at %q", got)
	}
}
