package dataset

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/testing/testneed"
)

const somebody = 12345 // a user id

// A data set into which another user could have written is prepared anew, with the reason: the marker and
// the files beside it decide what root executes.
func TestWhatOthersCouldHaveWritten(t *testing.T) {
	testneed.Root(t)
	aside := func(path string) string { return filepath.Join(filepath.Dir(filepath.Dir(path)), "aside") }
	link := func(path string) error {
		return errors.Join(os.Rename(path, aside(path)), os.Symlink(aside(path), path))
	}
	for name, c := range map[string]struct {
		file string // the file that is changed
		harm func(path string) error
		says string
	}{
		"the marker is another's":       {MarkerFile, func(p string) error { return os.Chown(p, somebody, somebody) }, "is of user 12345"},
		"the marker can be written":     {MarkerFile, func(p string) error { return os.Chmod(p, 0o666) }, "can be written by others"},
		"the marker is a link":          {MarkerFile, link, "is a link"},
		"the marker has another name":   {MarkerFile, func(p string) error { return os.Link(p, aside(p)) }, "has several hard links"},
		"the password is another's":     {"secret", func(p string) error { return os.Chown(p, somebody, somebody) }, "is of user 12345"},
		"a group can write the secret":  {"secret", func(p string) error { return os.Chmod(p, 0o620) }, "can be written by others"},
		"the password is a link":        {"secret", link, "neither a file nor a directory"},
		"the password has another name": {"secret", func(p string) error { return os.Link(p, aside(p)) }, "has several hard links"},
		"the directory is another's":    {".", func(p string) error { return os.Chown(p, somebody, somebody) }, "is of user 12345"},
		"others can write in it":        {".", func(p string) error { return os.Chmod(p, 0o777|os.ModeSticky) }, "can be written by others"},
		"the server's data, as before":  {"db", func(p string) error { return os.Chown(p, somebody, somebody) }, "is of user 12345"},
	} {
		t.Run(name, func(t *testing.T) {
			s := Store{t.TempDir()}
			set, _ := use(t, s, write)
			if err := c.harm(filepath.Join(set.Dir, c.file)); err != nil {
				t.Fatal(err)
			}
			if _, err := Verify(set.Dir); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("it verifies with %v, want %q", err, c.says)
			}
			again, cached := use(t, s, write)
			if cached || !strings.Contains(again.Instead, c.says) || strings.Contains(again.Instead, "\n") {
				t.Errorf("used: %v, why not: %q", cached, again.Instead)
			}
			if again, cached := use(t, s, never); !cached || again.Instead != "" {
				t.Errorf("the one that was prepared anew is not used: %q", again.Instead)
			}
		})
	}
}

// Files that were given to the server's account during building belong to root in the sealed data set. A missing
// data set gives no reason (Set.Instead).
func TestSealedIsTakenBack(t *testing.T) {
	testneed.Root(t)
	set, _ := use(t, Store{t.TempDir()}, func(ctx context.Context, dir string) (map[string]string, error) {
		notes, err := write(ctx, dir)
		db := filepath.Join(dir, "db")
		return notes, errors.Join(err, os.Chown(filepath.Join(db, "t1"), somebody, somebody), os.Chown(db, somebody, somebody),
			os.Chown(dir, -1, somebody), os.Chmod(dir, 0o710))
	})
	if set.Instead != "" {
		t.Error(set.Instead)
	}
	for _, name := range []string{".", "db", "db/t1", "secret", MarkerFile} {
		info, err := os.Lstat(filepath.Join(set.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v", name, info.Mode())
		}
	}
	if _, err := Verify(set.Dir); err != nil {
		t.Error(err)
	}
}

// A data set with a link is not sealed.
func TestNothingOfOthersIsSealed(t *testing.T) {
	testneed.Root(t)
	precious := filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(precious, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, plant := range map[string]func(dir string) error{
		"a marker":       func(d string) error { return os.Symlink(precious, filepath.Join(d, MarkerFile)) },
		"a file of root": func(d string) error { return os.Link(precious, filepath.Join(d, "db", "t2")) },
	} {
		t.Run(name, func(t *testing.T) {
			s := Store{t.TempDir()}
			_, _, err := s.Use(t.Context(), about, 0, func(ctx context.Context, dir string) (map[string]string, error) {
				notes, err := write(ctx, dir)
				db := filepath.Join(dir, "db")
				return notes, errors.Join(err, os.Chown(filepath.Join(db, "t1"), somebody, somebody), os.Chown(db, somebody, somebody), plant(dir))
			})
			if err == nil {
				t.Error("it was sealed")
			}
			if b, err := os.ReadFile(precious); err != nil || string(b) != "precious" {
				t.Errorf("a file of the host: %q, %v", b, err)
			}
		})
	}
}

// A file system that is mounted in the server's data, by its account with FUSE or by an administrator, is not
// removed with a data set.
func TestNothingMountedIsRemoved(t *testing.T) {
	testneed.Root(t)
	mounted := func(t *testing.T, dir string) {
		t.Helper()
		point := filepath.Join(dir, "db", "point")
		err := os.Mkdir(point, 0o700)
		if err == nil {
			testneed.Feature(t, "tmpfs", unix.Mount("tmpfs", point, "tmpfs", 0, "size=64k"))
			t.Cleanup(func() { _ = unix.Unmount(point, unix.MNT_DETACH) })
			err = os.WriteFile(filepath.Join(point, "precious"), nil, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, remove := range map[string]func(t *testing.T, s Store) error{
		"building fails": func(t *testing.T, s Store) error {
			_, _, err := s.Use(t.Context(), about, 0, func(ctx context.Context, dir string) (map[string]string, error) {
				if _, err := write(ctx, dir); err != nil {
					t.Error(err)
				}
				mounted(t, dir)
				return nil, errors.New("it fails")
			})
			return err
		},
		"it is built anew": func(t *testing.T, s Store) error {
			set, _ := use(t, s, write)
			mounted(t, set.Dir)
			_, _, err := s.Use(t.Context(), about, 0, write)
			return err
		},
		"it is pruned": func(t *testing.T, s Store) error {
			set, _ := use(t, s, write)
			mounted(t, set.Dir)
			_, err := s.Prune(func(Entry) bool { return true })
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := Store{t.TempDir()}
			if err := remove(t, s); err == nil || !strings.Contains(err.Error(), "umount") {
				t.Errorf("%v", err)
			}
			if left, _ := filepath.Glob(filepath.Join(s.Dir, "*", "db", "point", "precious")); len(left) != 1 {
				t.Errorf("left: %v", left)
			}
		})
	}
}
