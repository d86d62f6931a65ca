package launchtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tarelab/tare/internal/testneed"
)

// AsOrdinary runs the calling test again as an ordinary user, in a process of
// its own, where f is what it does. Its output and its failure are the test's.
func AsOrdinary(t *testing.T, f func(t *testing.T)) {
	if os.Getenv("LAUNCHTEST_ORDINARY") != "" {
		f(t)
		return
	}
	uid, gid := testneed.Ordinary(t)
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Dir(dir)} { // /tmp/Test1/001
		if err := os.Chmod(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	name := "^" + strings.ReplaceAll(t.Name(), "/", "$/^") + "$"
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run="+name, "-test.v")
	cmd.Env = append(os.Environ(), "LAUNCHTEST_ORDINARY=1", "TMPDIR="+dir, "HOME="+dir, "XDG_STATE_HOME="+dir)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: gid}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("as user %d: %v\n%s", uid, err, out)
	}
	t.Logf("as user %d:\n%s", uid, out)
}
