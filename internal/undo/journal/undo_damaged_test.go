package journal

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/hint"
)

// What can be read of a damaged journal is taken back; the journal stays as it is,
// byte by byte, however often that is tried.
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

// A journal that cannot be read, for the disk fails, is none that holds nothing.
func TestUndoUnreadable(t *testing.T) {
	f, err := os.Open("/proc/self/mem") // reading the begin of a process's memory is an input error
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if c, err := load(f, kinds); !errors.Is(err, unix.EIO) {
		t.Errorf("%+v, %v", c, err)
	}
}
