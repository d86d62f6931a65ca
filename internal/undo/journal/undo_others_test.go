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

// A journal with a step of another version is damaged; all other steps are undone.
func TestUndoUnknownKind(t *testing.T) {
	dir, target := t.TempDir(), t.TempDir()
	own := filepath.Join(target, "tare-r1")
	if err := os.Mkdir(own, 0o755); err != nil {
		t.Fatal(err)
	}
	dead(t, dir, "r1", nil, scratch{own}, unknown("ebpf", "/x"), scratch{"/etc"})
	for range 2 { // again and again the same
		r, err := Undo(dir, "r1", kinds)
		if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), `line 3 of the journal: step of unknown kind "ebpf"`) || len(r.Failed) != 1 || r.Kept(dir, "r1") == nil {
			t.Errorf("%+v %v", r, err)
		}
		left, err := Leftovers(dir, kinds)
		if err != nil || len(left) != 1 || left[0].Live || len(left[0].Steps) != 2 || left[0].Err == nil {
			t.Errorf("%+v %v", left, err)
		}
	}
	if !gone(own) {
		t.Error("one step that cannot be undone kept another from it")
	}
}

// Undo refuses a journal that another user could have written.
func TestUndoOfOthers(t *testing.T) {
	testneed.Root(t)
	for name, change := range map[string]func(dir string) error{
		"file of another":   func(dir string) error { return os.Chown(journalFile(dir, "r1"), 65534, 65534) },
		"folder of another": func(dir string) error { return os.Chown(journalDir(dir), 65534, 65534) },
		"file for all":      func(dir string) error { return os.Chmod(journalFile(dir, "r1"), 0o666) },
		"folder for all":    func(dir string) error { return os.Chmod(journalDir(dir), 0o777) },
	} {
		dir, own := t.TempDir(), filepath.Join(t.TempDir(), "tare-r1")
		if err := os.Mkdir(own, 0o755); err != nil {
			t.Fatal(err)
		}
		dead(t, dir, "r1", nil, scratch{own})
		if err := change(dir); err != nil {
			t.Fatal(err)
		}
		if r, err := Undo(dir, "r1", kinds); err == nil || hint.Of(err) == "" || gone(own) || len(files(t, dir)) != 1 {
			t.Errorf("%s: %+v %v", name, r, err)
		}
	}
}

// A pipe, a link or an endless file in the place of a journal is an error; it is neither waited
// for nor followed.
func TestPlantedJournals(t *testing.T) {
	for name, plant := range map[string]func(path string) error{
		"a pipe":     func(p string) error { return unix.Mkfifo(p, 0o600) },
		"a link":     func(p string) error { return os.Symlink("/dev/zero", p) },
		"a terabyte": func(p string) error { return errors.Join(os.WriteFile(p, nil, 0o600), os.Truncate(p, 1<<40)) },
	} {
		dir := t.TempDir()
		dead(t, dir, "r1", nil)
		if err := errors.Join(os.RemoveAll(journalFile(dir, "r1")), plant(journalFile(dir, "r1"))); err != nil {
			t.Fatal(err)
		}
		if all, err := Leftovers(dir, kinds); err != nil || len(all) != 1 || all[0].Err == nil {
			t.Errorf("%s: %+v, %v", name, all, err)
		}
		if _, err := Undo(dir, "r1", kinds); err == nil {
			t.Errorf("%s was undone", name)
		}
		Collect(dir)
	}
}
