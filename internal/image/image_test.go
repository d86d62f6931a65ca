package image

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/tarelab/tare/internal/hint"
	"github.com/tarelab/tare/internal/testneed"
)

// build packs programs of this host with the test binary as tare.
func build(t *testing.T, programs ...string) Info {
	t.Helper()
	dir := t.TempDir()
	i, err := Build(t.Context(), Options{Out: filepath.Join(dir, "image.tar"), Self: "/proc/self/exe", Work: t.TempDir(), Programs: programs})
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// TestBuildRuns: what the image holds runs with the image alone, as its user;
// built again it is the same image.
func TestBuildRuns(t *testing.T) {
	testneed.Root(t)
	for _, tool := range []string{"mariadbd", "sysbench"} {
		testneed.Tool(t, tool)
	}
	i := build(t, "mariadbd", "sysbench", "sh")
	t.Logf("%+v", i)
	if again := build(t, "mariadbd", "sysbench", "sh"); again.ID != i.ID {
		t.Errorf("built twice: %s and %s", i.ID, again.ID)
	}
	if i.Tag != DefaultTag || i.OS != "linux" || i.Arch != runtime.GOARCH || !strings.Contains(i.Contents, "mariadbd") || i.Fits() != nil {
		t.Errorf("%+v", i)
	}
	root := unpack(t, i.File)
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"/usr/sbin/mariadbd", "--no-defaults", "--version"}, "MariaDB"},
		{[]string{"/usr/bin/sysbench", "oltp_read_only", "help"}, "oltp_read_only options"}, // its script is there
		{[]string{"/bin/sh", "-c", "echo $((6*7)); [ -w /tmp ] && echo tmp"}, "42\ntmp"},
		{[]string{Exe, "-test.run=^TestHostSuite$", "-test.v"}, "PASS"},
	} {
		cmd := exec.Command(c.args[0], c.args[1:]...)
		cmd.Dir, cmd.Env = "/", []string{pathVariable}
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: UserID, Gid: UserID}}
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), c.says) {
			t.Errorf("%q: %v\n%s", c.args, err, out)
		}
	}
}

// unpack unpacks an image, whose files have one owner and one time.
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
	root, err = os.MkdirTemp("/var/tmp", "tare-test-image-") // what is above t.TempDir is closed to others
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	if err := errors.Join(os.Chmod(root, 0o755), Unpack(t.Context(), file, root)); err != nil {
		t.Fatal(err)
	}
	return root
}

// TestBuildRefuses: what cannot be built says why, and what to do.
func TestBuildRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "image.tar")
	for name, o := range map[string]Options{
		"a strange name":    {Tag: "Upper/Case:x"},
		"no such program":   {Programs: []string{"no-such-program"}},
		"packages, no tool": {Packages: []string{"dash"}, Suite: "bookworm"},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.Contains(name, "no tool") {
				t.Setenv("PATH", t.TempDir())
			}
			o.Out, o.Self, o.Work = file, "/proc/self/exe", t.TempDir()
			_, err := Build(t.Context(), o)
			if err == nil || hint.Of(err) == "" {
				t.Errorf("%v, hint %q", err, hint.Of(err))
			}
			if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("left %s: %v", file, err)
			}
		})
	}
	if _, err := Build(t.Context(), Options{Out: file, Self: "/proc/self/exe", Work: t.TempDir(), Programs: []string{"/no/such/file"}}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v, want that the file is missing", err)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("no archive"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{text, filepath.Join(dir, "none")} {
		if _, err := Open(file); err == nil || hint.Of(err) == "" {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// TestForeign: an image for another architecture is told before an engine is asked.
func TestForeign(t *testing.T) {
	config, err := empty.Image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", "riscv64"
	img, err := mutate.ConfigFile(empty.Image, config)
	if err != nil {
		t.Fatal(err)
	}
	tag, err := name.NewTag("localhost/foreign:1")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "image.tar")
	if err := tarball.WriteToFile(file, tag, img); err != nil {
		t.Fatal(err)
	}
	i, err := Open(file)
	if err != nil {
		t.Fatal(err)
	}
	err = i.Load(t.Context(), nil)
	if !errors.Is(err, ErrForeign) || hint.Of(err) == "" || !strings.Contains(err.Error(), "linux/riscv64") {
		t.Errorf("%v, want that it is for another architecture", err)
	}
}

// TestUnpackStaysBelow: an archive whose links and names lead out of the
// directory writes nothing there.
func TestUnpackStaysBelow(t *testing.T) {
	outside := t.TempDir()
	for name, headers := range map[string][]tar.Header{
		"link":   {{Typeflag: tar.TypeSymlink, Name: "out", Linkname: outside}, {Typeflag: tar.TypeReg, Name: "out/file"}},
		"parent": {{Typeflag: tar.TypeReg, Name: "../file"}},
		"hard":   {{Typeflag: tar.TypeLink, Name: "file", Linkname: "../../../../../../etc/passwd"}},
	} {
		root, err := os.OpenRoot(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range headers {
			err = errors.Join(err, unpackOne(root, &h, strings.NewReader("")))
		}
		root.Close()
		if left, _ := os.ReadDir(outside); err == nil || len(left) > 0 {
			t.Errorf("%s: %v, left outside: %v", name, err, left)
		}
	}
}

// TestUnpackBounds: an archive that would fill the disk, with bytes or with inodes, is refused
// before it does.
func TestUnpackBounds(t *testing.T) {
	headers := func(each func(w *tar.Writer) error) *bytes.Buffer {
		var b bytes.Buffer
		if err := each(tar.NewWriter(&b)); err != nil {
			t.Fatal(err)
		}
		return &b
	}
	for says, archive := range map[string]*bytes.Buffer{
		"bytes": headers(func(w *tar.Writer) error {
			return w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "bomb", Size: 17 << 30})
		}),
		"files and directories": headers(func(w *tar.Writer) (err error) {
			for range 100_001 { // FIFOs are left out, and count
				err = errors.Join(err, w.WriteHeader(&tar.Header{Typeflag: tar.TypeFifo, Name: "fifo"}))
			}
			return err
		}),
		"a file called": headers(func(w *tar.Writer) error {
			return w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: strings.Repeat("d/", 3000)})
		}),
	} {
		dir := t.TempDir()
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		err = unpackAll(t.Context(), root, archive)
		root.Close()
		if left, _ := os.ReadDir(dir); err == nil || !strings.Contains(err.Error(), says) || len(left) > 0 {
			t.Errorf("%s: %v, left %v", says, err, left)
		}
	}
}

// TestPackages: a root file system of packages is the same image when it is made
// again, and has its users and programs.
func TestPackages(t *testing.T) {
	testneed.Long(t, "image")
	testneed.Root(t)
	testneed.Tool(t, "mmdebstrap")
	self := testneed.Tool(t, "busybox") // static, as tare is
	ids := map[string]bool{}
	var last Info
	for range 2 {
		i, err := Build(t.Context(), Options{
			Out: filepath.Join(t.TempDir(), "image.tar"), Self: self, Work: t.TempDir(), Packages: []string{"busybox-static"},
		})
		if err != nil {
			t.Fatal(err)
		}
		ids[i.ID], last = true, i
	}
	t.Logf("%+v", last)
	if len(ids) != 1 || !strings.HasSuffix(last.Contents, ": busybox-static") {
		t.Errorf("%v, %+v", ids, last)
	}
	root := t.TempDir()
	if err := errors.Join(os.Chmod(root, 0o755), Unpack(t.Context(), last.File, root)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/bin/busybox", "id", "www-data")
	cmd.Dir, cmd.SysProcAttr = "/", &syscall.SysProcAttr{Chroot: root}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "uid=33(www-data)") {
		t.Errorf("%v: %s", err, out)
	}
}
