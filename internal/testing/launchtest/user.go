package launchtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/testing/testneed"
)

// AsOrdinary runs the calling test again in a process of an ordinary user, which calls f. Output and
// failure of that process are the test's.
func AsOrdinary(t *testing.T, f func(t *testing.T)) {
	if os.Getenv("LAUNCHTEST_ORDINARY") != "" {
		f(t)
		return
	}
	uid, gid := testneed.Ordinary(t)
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Dir(dir)} { // /tmp/Test1/001
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(dir, int(uid), int(gid)); err != nil {
		t.Fatal(err)
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

// ShareTun lets all users open /dev/net/tun in the test's mount namespace until the test ends:
// slirp4netns needs the device, and on some hosts only root may open it.
func ShareTun(t *testing.T) {
	t.Helper()
	tun := filepath.Join(t.TempDir(), "tun")
	if err := unix.Mknod(tun, unix.S_IFCHR|0o666, int(unix.Mkdev(10, 200))); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(tun, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount(tun, "/dev/net/tun", "", unix.MS_BIND, ""); err != nil {
		testneed.Feature(t, "tun", err)
	}
	t.Cleanup(func() { unix.Unmount("/dev/net/tun", unix.MNT_DETACH) })
}
