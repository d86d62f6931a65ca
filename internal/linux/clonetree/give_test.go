package clonetree

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/testing/testneed"
)

const somebody = 12345 // a user's id

func owner(t *testing.T, path string) int {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		t.Fatal(err)
	}
	return int(st.Uid)
}

func TestGive(t *testing.T) {
	testneed.Root(t)
	dir := t.TempDir()
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, "mine/a/b"), 0o700), os.WriteFile(filepath.Join(dir, "mine/a/b/file"), nil, 0o600),
		os.Symlink("/etc/passwd", filepath.Join(dir, "mine/a/link")), os.Mkdir(filepath.Join(dir, "other"), 0o700)); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := Give(root, somebody, somebody, "mine", "none"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"": 0, "other": 0, "mine": somebody, "mine/a": somebody, "mine/a/b/file": somebody, "mine/a/link": somebody} {
		if got := owner(t, filepath.Join(dir, name)); got != want {
			t.Errorf("%q is of user %d, want %d", name, got, want)
		}
	}
	if owner(t, "/etc/passwd") != 0 {
		t.Error("it followed a link")
	}
}

// swap exchanges two names again and again until stop.
func swap(a, b string) (stop func()) {
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-over:
				return
			default:
				_ = unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
			}
		}
	}()
	return func() { close(over); <-done }
}

// A user who can write where a copy is made swaps it for a link, again and again: nothing is
// written behind the link.
func TestCopyWhileSwapped(t *testing.T) {
	src, target := t.TempDir(), t.TempDir()
	for i := range 20 {
		if err := os.WriteFile(filepath.Join(src, fmt.Sprint("file", i)), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for range 40 {
		dir := t.TempDir()
		if err := os.Symlink(target, filepath.Join(dir, "aside")); err != nil {
			t.Fatal(err)
		}
		stop := swap(filepath.Join(dir, "copy"), filepath.Join(dir, "aside"))
		_ = Copy(filepath.Join(dir, "copy"), src) // Copy may fail, but must not follow the link
		stop()
	}
	if entries, err := os.ReadDir(target); err != nil || len(entries) > 0 {
		t.Errorf("behind the link: %d files, %v", len(entries), err)
	}
}

// A user who can write in a tree swaps a directory in it for a link, again and again: the
// link's target stays root's.
func TestGiveWhileSwapped(t *testing.T) {
	testneed.Root(t)
	dir, target := t.TempDir(), t.TempDir()
	for _, d := range []string{"top", "top/sub", "top/aside"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	sub, aside, file := filepath.Join(dir, "top/sub"), filepath.Join(dir, "top/aside/it"), filepath.Join(target, "file")
	for _, f := range []string{filepath.Join(sub, "file"), file} {
		if err := os.WriteFile(f, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(target, aside); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	stop := swap(sub, aside)
	for range 2000 {
		_ = Give(root, somebody, somebody, "top") // Give may fail, but must not follow the link
		_ = os.Lchown(filepath.Join(dir, "top"), 0, 0)
	}
	stop()
	if owner(t, target) != 0 || owner(t, file) != 0 {
		t.Error("a directory behind a link was given away")
	}
}

// A file with several hard links may be somebody else's: a user who can write in the directory
// may have linked it.
func TestGiveLeavesOtherNames(t *testing.T) {
	testneed.Root(t)
	dir := t.TempDir()
	precious := filepath.Join(dir, "precious")
	must(t, os.WriteFile(precious, nil, 0o600), os.MkdirAll(filepath.Join(dir, "data/db"), 0o700))
	must(t, os.Link(precious, filepath.Join(dir, "data/db/file")))
	root, err := os.OpenRoot(filepath.Join(dir, "data"))
	must(t, err)
	defer root.Close()
	if err := Give(root, somebody, somebody, "db"); err == nil || !strings.Contains(err.Error(), "db/file has several hard links") {
		t.Errorf("want the file's name, got %v", err)
	}
	if owner(t, precious) != 0 {
		t.Error("somebody else's file was given away")
	}
}

// A user may have put anything into a directory that is that user's already, also a file with
// no other link left.
func TestGiveLeavesWhatIsInTheirs(t *testing.T) {
	testneed.Root(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "db/file")
	must(t, os.Mkdir(filepath.Join(dir, "db"), 0o700), os.WriteFile(file, nil, 0o600), os.Chown(filepath.Join(dir, "db"), somebody, somebody))
	root, err := os.OpenRoot(dir)
	must(t, err)
	defer root.Close()
	must(t, Give(root, somebody, somebody, "db"))
	if owner(t, file) != 0 {
		t.Error("a file of root's was given away")
	}
	must(t, os.Chown(filepath.Join(dir, "db"), somebody+1, somebody+1))
	if err := Give(root, somebody, somebody, "db"); !errors.Is(err, unix.EPERM) || owner(t, file) != 0 {
		t.Errorf("a third user's directory: %v, its file is of user %d", err, owner(t, file))
	}
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
