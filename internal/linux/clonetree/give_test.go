package clonetree

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/testneed"
)

const somebody = 12345 // a user's number

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

// swap exchanges two names, over and over, until stop.
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

// Whoever can write where a copy is made swaps it for a link, over and over: what the
// link points at gets nothing.
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
		_ = Copy(filepath.Join(dir, "copy"), src) // it may fail, and must not follow
		stop()
	}
	if entries, err := os.ReadDir(target); err != nil || len(entries) > 0 {
		t.Errorf("behind the link: %d files, %v", len(entries), err)
	}
}

// Whoever can write in a tree swaps a directory of it for a link, over and over: what
// the link points at stays root's.
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
		_ = Give(root, somebody, somebody, "top") // it may fail, and must not follow
	}
	stop()
	if owner(t, target) != 0 || owner(t, file) != 0 {
		t.Error("a directory behind a link was given away")
	}
}
