// Package dirtar sends a directory over a stream, as a tar archive of directories,
// plain files, and links from one to the other. It knows files and nothing of what they hold.
package dirtar

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Write writes a directory. One that is not there is an empty archive.
func Write(w io.Writer, dir string) error {
	out := tar.NewWriter(w)
	if _, err := os.Stat(dir); err == nil {
		if err := out.AddFS(os.DirFS(dir)); err != nil {
			return err
		}
	}
	return out.Close()
}

// Read unpacks what Write wrote: directories, plain files and links with
// their permissions, none outside of dir, none that is there already.
func Read(r io.Reader, dir string) (files int, err error) {
	for in := tar.NewReader(r); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			_, err = io.Copy(io.Discard, r) // the padding
			return files, err
		}
		if err != nil {
			return files, err
		}
		if !filepath.IsLocal(h.Name) {
			return files, fmt.Errorf("a file called %q", h.Name)
		}
		path := filepath.Join(dir, h.Name)
		switch h.Typeflag {
		case tar.TypeDir:
			err = os.MkdirAll(path, 0o755)
			if err == nil {
				err = os.Chmod(path, h.FileInfo().Mode().Perm()|0o700)
			}
		case tar.TypeSymlink:
			if !filepath.IsLocal(filepath.Join(filepath.Dir(h.Name), h.Linkname)) || filepath.IsAbs(h.Linkname) {
				return files, fmt.Errorf("a link to %q", h.Linkname)
			}
			err = os.Symlink(h.Linkname, path)
		case tar.TypeReg:
			files++
			err = unpack(in, path, h.FileInfo().Mode())
		}
		if err != nil {
			return files, err
		}
	}
}

func unpack(r io.Reader, path string, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode.Perm()|0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Chmod(mode.Perm()), f.Close())
}
