package dataset

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/tarelab/tare/internal/undo/trust"
)

// Verify reads the marker and checks that the directory has exactly the files in it, unchanged, and
// that only this user and root can have created them (see list).
func Verify(dir string) (Marker, error) {
	m, err := Read(dir)
	if err != nil {
		return Marker{}, err
	}
	if err := trust.Entry(filepath.Join(dir, MarkerFile)); err != nil {
		return Marker{}, err
	}
	now, err := list(dir, nil)
	if err != nil {
		return Marker{}, err
	}
	if key := m.About.Key(); m.Key != key || filepath.Base(dir) != key {
		return Marker{}, fmt.Errorf("%s: %w: it is %s", dir, errDamaged, key)
	}
	same := func(a, b File) bool { return a.Path == b.Path && a.Size == b.Size && a.Modified.Equal(b.Modified) }
	if slices.EqualFunc(m.Files, now, same) {
		return m, nil
	}
	return Marker{}, fmt.Errorf("%s: %w: %s", dir, errDamaged, difference(m.Files, now))
}

// difference names the first file that differs.
func difference(was, is []File) string {
	have := map[string]File{}
	for _, f := range is {
		have[f.Path] = f
	}
	for _, f := range was {
		g, ok := have[f.Path]
		switch {
		case !ok:
			return f.Path + " is missing"
		case g.Size != f.Size:
			return fmt.Sprintf("%s has %d bytes instead of %d", f.Path, g.Size, f.Size)
		case !g.Modified.Equal(f.Modified):
			return f.Path + " was modified"
		}
		delete(have, f.Path)
	}
	for path := range have {
		return path + " was added"
	}
	return "files were reordered"
}

// list returns all files below dir but the marker, in the order of the walk. It calls each, unless each
// is nil, for the files and then for the directories, inner ones first. Directories, and the files in
// dir itself, on which root acts, must not be writable by other users (trust.Entry).
func list(dir string, each func(path string) error) ([]File, error) {
	var out []File
	var dirs []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil || rel == MarkerFile {
			return err
		}
		if d.IsDir() || filepath.Dir(path) == dir {
			if err := trust.Entry(path); err != nil {
				return err
			}
		}
		if d.IsDir() {
			dirs = append(dirs, path)
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s is a %v, which no data set holds", path, info.Mode().Type())
		}
		out = append(out, File{Path: rel, Size: info.Size(), Modified: info.ModTime().UTC()})
		if each != nil {
			return each(path)
		}
		return nil
	})
	for i := len(dirs) - 1; i >= 0 && err == nil && each != nil; i-- {
		err = each(dirs[i])
	}
	if err != nil {
		return nil, fmt.Errorf("list a data set: %w", err)
	}
	return out, nil
}

func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("sync %s: %w", path, err)
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		return fmt.Errorf("sync %s: %w", path, err)
	}
	return nil
}
