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

// A journal of another format, without a header, of no bytes or with a line of another version is kept as it is. Nothing
// of another format is undone.
func TestUndoOfAnotherVersion(t *testing.T) {
	dir, target := t.TempDir(), t.TempDir()
	own := filepath.Join(target, "tare-r1")
	dead(t, dir, "r1", nil, scratch{own})
	whole, err := os.ReadFile(journalFile(dir, "r1"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		text   string
		undoes bool
	}{
		"another format":   {strings.Replace(string(whole), Schema, "tare/journal/v2", 1), false},
		"another line":     {string(whole) + `{"change":{}}` + "\n", true},
		"no header":        {string(whole[strings.IndexByte(string(whole), '\n')+1:]), true},
		"half of a header": {string(whole[:20]), false},
		"no bytes":         {"", false},
	} {
		if err := errors.Join(os.WriteFile(journalFile(dir, "r1"), []byte(c.text), 0o600), os.MkdirAll(own, 0o700)); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			_, err := Undo(dir, "r1", kinds)
			if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), journalFile(dir, "r1")) || !strings.Contains(hint.Of(err), "rm "+journalFile(dir, "r1")) || gone(own) != c.undoes {
				t.Errorf("%s: %v, %s, undone: %v", name, err, hint.Of(err), gone(own))
			}
		}
		if now, err := os.ReadFile(journalFile(dir, "r1")); err != nil || string(now) != c.text {
			t.Errorf("%s: the journal is %q, %v", name, now, err)
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
