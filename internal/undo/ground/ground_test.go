package ground

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/account"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/internal/undo/journal/steps"
)

const somebody = 12345 // a user's id

// made is a run that makes directories, with its journal.
type made struct {
	t       *testing.T
	journal *journal.Journal
	state   string
	undo    []func() error
}

func newMade(t *testing.T) *made {
	t.Helper()
	m := &made{t: t, state: t.TempDir()}
	var err error
	if m.journal, err = journal.Open(m.state, "ground"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.back(); m.journal.Close() })
	return m
}

func (m *made) record(s journal.Step, back func() error) error {
	if _, err := m.journal.Add(s); err != nil {
		return err
	}
	m.undo = append(m.undo, back)
	return nil
}

func (m *made) back() {
	m.t.Helper()
	for len(m.undo) > 0 {
		last := len(m.undo) - 1
		if err := m.undo[last](); err != nil {
			m.t.Error(err)
		}
		m.undo = m.undo[:last]
	}
}

// theirs is another user's directory, and another directory as the target of a link.
func theirs(t *testing.T) (dir, target string) {
	t.Helper()
	dir, target = filepath.Join(t.TempDir(), "theirs"), t.TempDir()
	if err := errors.Join(os.Mkdir(dir, 0o755), os.Chown(dir, somebody, somebody)); err != nil {
		t.Fatal(err)
	}
	return dir, target
}

func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// passed is a directory that all accounts can enter.
func passed(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o711); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A directory made in one that is closed to other accounts is reached through a mount.
func TestClosedGround(t *testing.T) {
	testneed.Root(t)
	m, path := newMade(t), filepath.Join(t.TempDir(), "tare-ground")
	work, err := Make(m.record, path, 0o711)
	if err != nil || work == path {
		t.Fatalf("%s, %v", work, err)
	}
	if err := os.Mkdir(filepath.Join(work, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{work: "", path: filepath.Dir(filepath.Dir(path))} {
		if got, err := account.Nobody.Blocked(filepath.Join(dir, "data")); err != nil || got != want {
			t.Errorf("%s is closed by %q, %v; want %q", dir, got, err, want)
		}
	}
	m.back()
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Error(err)
	}
}

// Where nobody else can move the directory and all accounts can enter it, its own path is used.
func TestOwnGround(t *testing.T) {
	m, path := newMade(t), filepath.Join(passed(t), "tare-ground")
	defer unix.Umask(unix.Umask(0o077)) // a careful administrator's; neighbours are nobody
	if got, err := Make(m.record, path, 0o711); err != nil || got != path {
		t.Fatalf("%s %v", got, err)
	}
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o711 {
		t.Errorf("%v %v", st.Mode(), err)
	}
	if _, err := Make(m.record, path, 0o711); !errors.Is(err, os.ErrExist) {
		t.Errorf("one that was there already: %v", err)
	}
	m.undo = m.undo[:1]
	m.back()
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Error(err)
	}
}

// The owner of the directory above replaces tare's directory by a link: root still works in the
// directory, and the undo removes it.
func TestMovedGround(t *testing.T) {
	testneed.Root(t)
	for _, killed := range []bool{false, true} {
		m := newMade(t)
		dir, target := theirs(t)
		path := filepath.Join(dir, "tare-ground")
		work, err := Make(m.record, path, 0o711)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.Rename(path, path+"-moved"), os.Symlink(target, path)); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.MkdirAll(filepath.Join(work, "arm/data"), 0o700), os.WriteFile(filepath.Join(work, "arm/data/file"), nil, 0o600), os.Chown(filepath.Join(work, "arm"), somebody, 0)); err != nil {
			t.Fatal(err)
		}
		if got := names(t, target); len(got) > 0 {
			t.Errorf("behind the link: %v", got)
		}
		if got := names(t, path+"-moved"); len(got) != 1 || got[0] != "arm" {
			t.Errorf("in the directory: %v", got)
		}
		// The owner must remove what he has renamed.
		if err := errors.Join(os.Remove(path), os.Rename(path+"-moved", path)); err != nil {
			t.Fatal(err)
		}
		if killed {
			m.undo = nil
			end(t, m)
			if r, err := journal.Undo(m.state, "ground", steps.Kinds()); err != nil || len(r.Failed) > 0 {
				t.Errorf("%+v %v", r, err)
			}
		} else {
			m.back()
		}
		if got := names(t, dir); len(got) > 0 {
			t.Errorf("left: %v", got)
		}
		if _, err := os.Lstat(work); !os.IsNotExist(err) {
			t.Errorf("left: %s %v", work, err)
		}
	}
}

// While the directory is made, the owner of the one above swaps it for a directory of his and
// for a link, again and again: Make returns the one that root has made, or an error.
func TestSwappedGround(t *testing.T) {
	testneed.Root(t)
	dir, target := theirs(t)
	path := filepath.Join(dir, "tare-ground")
	trap := filepath.Join(dir, "trap")
	if err := errors.Join(os.Mkdir(trap, 0o777), os.Chown(trap, somebody, somebody), os.Chown(target, somebody, somebody), os.Symlink(target, filepath.Join(dir, "link"))); err != nil {
		t.Fatal(err)
	}
	over, swapping := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(swapping)
		for {
			for _, with := range []string{"trap", "link"} {
				_ = unix.Renameat2(unix.AT_FDCWD, path, unix.AT_FDCWD, filepath.Join(dir, with), unix.RENAME_EXCHANGE)
				_ = unix.Renameat2(unix.AT_FDCWD, path, unix.AT_FDCWD, filepath.Join(dir, with), unix.RENAME_EXCHANGE)
			}
			select {
			case <-over:
				return
			default:
			}
		}
	}()
	refused := 0
	for range 1000 {
		f, err := create(path, 0o711)
		if err != nil {
			refused++
		} else {
			var st unix.Stat_t
			if err := unix.Fstat(int(f.Fd()), &st); err != nil || st.Uid != 0 {
				t.Errorf("a directory of user %d, %v", st.Uid, err)
			}
			f.Close()
		}
		_ = unix.Rmdir(path)
		_ = unix.Unlink(path)
		if _, err := os.Lstat(trap); err != nil {
			_ = os.Mkdir(trap, 0o777)
			_ = os.Chown(trap, somebody, somebody)
		}
	}
	close(over)
	<-swapping
	t.Logf("refused %d times", refused)
	if got := names(t, target); len(got) > 0 {
		t.Errorf("behind the link: %v", got)
	}
}

// A mount that somebody has made in a directory is not removed, nor is what is behind a mount
// of tare's that still exists: the undo returns an error.
func TestMountedInGround(t *testing.T) {
	testneed.Root(t)
	others, _ := theirs(t)
	for name, c := range map[string]struct {
		parent string
		way    int // which undo: of the directory or of the mount point
	}{"the directory": {passed(t), 0}, "the point": {others, 1}} {
		t.Run(name, func(t *testing.T) {
			m, precious := newMade(t), t.TempDir()
			work, err := Make(m.record, filepath.Join(c.parent, "tare-ground"), 0o711)
			if err != nil {
				t.Fatal(err)
			}
			point := filepath.Join(work, "point")
			if err := errors.Join(os.Mkdir(point, 0o700), os.WriteFile(filepath.Join(work, "file"), nil, 0o600), os.WriteFile(filepath.Join(precious, "file"), nil, 0o600)); err != nil {
				t.Fatal(err)
			}
			// A bind mount of the same file system has the same device number.
			testneed.Feature(t, "bind mount", unix.Mount(precious, point, "", unix.MS_BIND, ""))
			t.Cleanup(func() { _ = unix.Unmount(point, unix.MNT_DETACH) }) // before newMade's
			if err := m.undo[c.way](); err == nil || !strings.Contains(err.Error(), "umount") {
				t.Errorf("the way back: %v", err)
			}
			if got := names(t, precious); len(got) != 1 {
				t.Errorf("behind the mount: %v", got)
			}
			if got := names(t, work); len(got) != 2 {
				t.Errorf("in the directory: %v", got)
			}
		})
	}
}

// Another user's directory in the place of root's is an error with a remedy.
func TestOthersGround(t *testing.T) {
	testneed.Root(t)
	dir, _ := theirs(t)
	f, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := checkOwn(f); err == nil || !strings.Contains(err.Error(), "user 12345 has put it there") || hint.Of(err) == "" {
		t.Errorf("%v", err)
	}
}

// end ends a journal as a kill does, with all its steps; its process is another one.
func end(t *testing.T, m *made) {
	t.Helper()
	if err := m.journal.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(m.state, "journal/ground.jsonl")
	b, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, regexp.MustCompile(`"start_ticks":\d+`).ReplaceAll(b, []byte(`"start_ticks":1`)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A directory with a mount of its own, and a directory of the same name in it, as on a server's
// file system that is mounted there, have different paths.
func TestHeldTwice(t *testing.T) {
	testneed.Root(t)
	m := newMade(t)
	first, err := Make(m.record, filepath.Join(t.TempDir(), "tare-ground-arm.volume"), 0o700)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Make(m.record, filepath.Join(first, "tare-ground-arm.volume"), 0o700)
	if err != nil || second == first || !strings.HasPrefix(second, points+"/") {
		t.Fatalf("%s in %s: %v", second, first, err)
	}
	if err := os.WriteFile(filepath.Join(second, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(first, "tare-ground-arm.volume", "file")); err != nil {
		t.Error(err)
	}
	m.back()
	for _, point := range []string{first, second} {
		if _, err := os.Lstat(point); !os.IsNotExist(err) {
			t.Errorf("%s: %v", point, err)
		}
	}
}
