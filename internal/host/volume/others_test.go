package volume

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/tarelab/tare/internal/testing/testneed"
)

// theirs is a volume in another user's directory, and another directory with a file as the
// target of that user's link.
func theirs(t *testing.T) (v Volume, dir, target string) {
	t.Helper()
	dir, target = filepath.Join(t.TempDir(), "theirs"), t.TempDir()
	err := errors.Join(os.Mkdir(dir, 0o755), os.Chown(dir, 12345, 12345), os.WriteFile(filepath.Join(target, "file"), nil, 0o600))
	if err == nil {
		v, err = Parse("dir:" + dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v, dir, target
}

// one expects that a directory has only its file.
func one(t *testing.T, dir string) {
	t.Helper()
	if all, err := os.ReadDir(dir); err != nil || len(all) != 1 || all[0].Name() != "file" {
		t.Errorf("in %s: %v %v", dir, all, err)
	}
}

// The owner of the directory above replaces an open volume by a link: data still goes to the
// volume.
func TestMovedVolume(t *testing.T) {
	testneed.Root(t)
	v, dir, target := theirs(t)
	s, left := spec(t, v.Name())
	o, err := v.Open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Close() })
	path := s.dir(dir)
	if err := errors.Join(os.Rename(path, path+"-moved"), os.Symlink(target, path)); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(o.Dir, "file"), 0o700); err != nil {
		t.Errorf("not in the volume, but behind the link: %v", err)
	}
	one(t, target)
	one(t, path+"-moved")
	// The owner must remove what he has renamed.
	if err := errors.Join(os.Remove(path), os.Rename(path+"-moved", path), o.Close()); err != nil {
		t.Error(err)
	}
	if rest, _ := os.ReadDir(dir); len(rest) > 0 {
		t.Errorf("left behind: %v", rest)
	}
	if l := left(); len(l) > 0 {
		t.Errorf("left in the journal: %+v", l)
	}
}

// A directory that another user has put at the volume's path is not used.
func TestPlantedVolume(t *testing.T) {
	testneed.Root(t)
	for name, plant := range map[string]func(path, target string) error{
		"a link":      func(path, target string) error { return os.Symlink(target, path) },
		"a directory": func(path, _ string) error { return errors.Join(os.Mkdir(path, 0o777), os.Chown(path, 12345, 12345)) },
	} {
		t.Run(name, func(t *testing.T) {
			v, dir, target := theirs(t)
			s, _ := spec(t, v.Name())
			if err := plant(s.dir(dir), target); err != nil {
				t.Fatal(err)
			}
			o, err := v.Open(t.Context(), s)
			if err == nil {
				o.Close()
			}
			if !errors.Is(err, os.ErrExist) {
				t.Errorf("opened with %v", err)
			}
			one(t, target)
		})
	}
}
