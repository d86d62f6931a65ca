package journal

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/testing/testneed"
)

// The readable steps of a damaged journal are undone; the file stays as it is, byte by byte,
// however often that is tried.
func TestUndoDamaged(t *testing.T) {
	dir, target := t.TempDir(), t.TempDir()
	own := filepath.Join(target, "tare-r1")
	if err := os.Mkdir(own, 0o755); err != nil {
		t.Fatal(err)
	}
	dead(t, dir, "r1", nil, scratch{own}, scratch{"/nowhere/tare-r1"})
	text, err := os.ReadFile(journalFile(dir, "r1"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	lines[2] = "#" + lines[2][1:]
	damaged := strings.Join(lines, "")
	if err := os.WriteFile(journalFile(dir, "r1"), []byte(damaged), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r, err := Undo(dir, "r1", kinds)
		if err == nil || !strings.Contains(err.Error(), "damaged") || hint.Of(err) == "" || len(r.Undone) != 1 || !gone(own) {
			t.Errorf("%+v %v", r, err)
		}
		if now, err := os.ReadFile(journalFile(dir, "r1")); err != nil || string(now) != damaged {
			t.Errorf("the journal is %q: %v", now, err)
		}
	}
}

// A journal that cannot be read because the disk fails is kept.
func TestUndoUnreadable(t *testing.T) {
	testneed.Root(t)
	dir := t.TempDir()
	dead(t, dir, "r1", nil)
	// A read at the beginning of a process's memory is an I/O error.
	if err := unix.Mount("/proc/self/mem", journalFile(dir, "r1"), "", unix.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Unmount(journalFile(dir, "r1"), 0) })
	if _, err := Undo(dir, "r1", kinds); !errors.Is(err, unix.EIO) || len(files(t, dir)) != 1 {
		t.Errorf("%v, files %v", err, files(t, dir))
	}
}
