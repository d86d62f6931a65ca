package clonetree

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestCopy(t *testing.T) {
	src, dst := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	old := time.Unix(1_000_000_000, 0)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(filepath.Join(src, "a", "b"), 0o777))
	must(os.Chmod(filepath.Join(src, "a"), 0o750))
	big := strings.Repeat("0123456789abcdef", 1<<16)
	must(os.WriteFile(filepath.Join(src, "a", "b", "big"), []byte(big), 0o600))
	must(os.WriteFile(filepath.Join(src, "empty"), nil, 0o644))
	must(os.Chmod(filepath.Join(src, "empty"), 0o666))
	must(os.Chtimes(filepath.Join(src, "empty"), old, old))
	must(os.Symlink("a/b/big", filepath.Join(src, "link")))

	must(Copy(dst, src))
	if b, err := os.ReadFile(filepath.Join(dst, "link")); err != nil || string(b) != big {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	st, err := os.Stat(filepath.Join(dst, "empty"))
	must(err)
	if st.Mode() != 0o666 || !st.ModTime().Equal(old) {
		t.Errorf("mode %v, time %v", st.Mode(), st.ModTime())
	}
	if st, err = os.Stat(filepath.Join(dst, "a")); err != nil || st.Mode().Perm() != 0o750 {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}
	// Writing to the copy leaves the original alone.
	must(os.WriteFile(filepath.Join(dst, "a", "b", "big"), []byte("x"), 0o600))
	if b, _ := os.ReadFile(filepath.Join(src, "a", "b", "big")); string(b) != big {
		t.Error("the original changed with the copy")
	}
}

func TestHolesStayHoles(t *testing.T) {
	src, dst := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	f, err := os.Create(filepath.Join(src, "sparse"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want := make([]byte, 16<<20)
	for _, at := range []int{4096, 5 << 20, 9<<20 + 17} {
		copy(want[at:], "data")
		if _, err := f.WriteAt([]byte("data"), int64(at)); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Truncate(int64(len(want))); err != nil { // a hole at the end too
		t.Fatal(err)
	}
	if err := Copy(dst, src); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dst, "sparse"))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %v: not the same", len(got), err)
	}
	var old, fresh unix.Stat_t
	if err := errors.Join(unix.Stat(filepath.Join(src, "sparse"), &old), unix.Stat(filepath.Join(dst, "sparse"), &fresh)); err != nil {
		t.Fatal(err)
	}
	if fresh.Blocks > 2*old.Blocks {
		t.Errorf("%d blocks became %d", old.Blocks, fresh.Blocks)
	}
}

func TestCopyRefuses(t *testing.T) {
	src := t.TempDir()
	if err := Copy(t.TempDir(), src); err == nil {
		t.Error("copied over something that exists")
	}
	if err := unix.Mkfifo(filepath.Join(src, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Copy(filepath.Join(t.TempDir(), "copy"), src); err == nil || !strings.Contains(err.Error(), "pipe") {
		t.Errorf("%v: want an error that names the pipe", err)
	}
	if err := Copy(filepath.Join(t.TempDir(), "copy"), filepath.Join(src, "no")); err == nil {
		t.Error("copied nothing")
	}
}
