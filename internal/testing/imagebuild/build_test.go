package imagebuild

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/tarelab/tare/internal/outside/image"
	"github.com/tarelab/tare/internal/testing/testneed"
)

// Programs of the image run with the image alone and its user; a second build gives the same image.
func TestBuildRuns(t *testing.T) {
	testneed.Root(t)
	for _, tool := range []string{"mariadbd", "sysbench"} {
		testneed.Tool(t, tool)
	}
	i := Build(t, "", "/proc/self/exe", "mariadbd", "sysbench", "sh")
	t.Logf("%+v", i)
	if again := Build(t, "", "/proc/self/exe", "mariadbd", "sysbench", "sh"); again.ID != i.ID {
		t.Errorf("built twice: %s and %s", i.ID, again.ID)
	}
	if i.Tag != defaultTag || i.OS != "linux" || i.Arch != runtime.GOARCH || i.Fits() != nil {
		t.Errorf("%+v", i)
	}
	root := unpack(t, i.File)
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"/usr/sbin/mariadbd", "--no-defaults", "--version"}, "MariaDB"},
		{[]string{"/usr/bin/sysbench", "oltp_read_only", "help"}, "oltp_read_only options"}, // needs its Lua script
		{[]string{"/bin/sh", "-c", "echo $((6*7)); [ -w /tmp ] && echo tmp"}, "42\ntmp"},
		{[]string{exe, "-test.run=^TestParseLibraries$", "-test.v"}, "PASS"},
	} {
		cmd := exec.Command(c.args[0], c.args[1:]...)
		cmd.Dir, cmd.Env = "/", []string{pathVariable}
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: userID, Gid: userID}}
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), c.says) {
			t.Errorf("%q: %v\n%s", c.args, err, out)
		}
	}
}

// unpack unpacks an image and checks owner and time of its files.
func unpack(t *testing.T, file string) (root string) {
	t.Helper()
	img, err := tarball.ImageFromPath(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	layers, err := img.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatal(len(layers), err)
	}
	r, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for tr := tar.NewReader(r); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if !h.ModTime.Equal(epoch) || h.Uid != 0 || strings.HasPrefix(h.Name, "/") {
			t.Errorf("%+v", h)
		}
	}
	root, err = os.MkdirTemp("/var/tmp", "tare-test-image-") // other users cannot search the directories above t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	if err := errors.Join(os.Chmod(root, 0o755), image.Unpack(t.Context(), file, root)); err != nil {
		t.Fatal(err)
	}
	return root
}

// A missing program is an error with its name.
func TestBuildRefuses(t *testing.T) {
	for program, want := range map[string]error{"no-such-program": exec.ErrNotFound, "/no/such/file": os.ErrNotExist} {
		if _, err := fill(t.Context(), "/proc/self/exe", []string{program}); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", program, err, want)
		}
	}
}
