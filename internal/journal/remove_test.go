package journal

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// What takes a directory's place while it is made readable stays as it is.
func TestAllowFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "target")
	if err := os.Mkdir(target, 0); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	parent, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(parent)
	mode := func() os.FileMode {
		i, err := os.Lstat(target)
		if err != nil {
			t.Fatal(err)
		}
		return i.Mode().Perm()
	}
	if err := allow(parent, "link"); err == nil || mode() != 0 {
		t.Errorf("through a link: %v, and its target has mode %s", err, mode())
	}
	if err := allow(parent, "target"); err != nil || mode() != 0o700 {
		t.Errorf("the directory itself: %v, mode %s", err, mode())
	}
}
