package imagebuild

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
)

// pack writes the tree as a tar archive, sorted by path.
func (t *tree) pack(ctx context.Context, file string) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	w := tar.NewWriter(f)
	for _, name := range slices.Sorted(maps.Keys(t.entries)) {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = packOne(w, name, t.entries[name])
		}
	}
	return errors.Join(err, w.Close(), f.Close())
}

// packOne writes one entry.
func packOne(w *tar.Writer, name string, e entry) error {
	h := &tar.Header{Name: name, Mode: int64(e.mode.Perm()), ModTime: epoch}
	if e.mode&fs.ModeSticky != 0 {
		h.Mode |= 0o1000 // S_ISVTX
	}
	var content io.Reader
	switch {
	case e.mode.IsDir():
		h.Typeflag, h.Name = tar.TypeDir, name+"/"
	case e.mode&fs.ModeSymlink != 0:
		h.Typeflag, h.Linkname = tar.TypeSymlink, e.link
	case e.source == "":
		h.Typeflag, h.Size, content = tar.TypeReg, int64(len(e.content)), bytes.NewReader(e.content)
	default:
		f, err := os.Open(e.source)
		if err != nil {
			return err
		}
		defer f.Close()
		st, err := f.Stat()
		if err != nil {
			return err
		}
		h.Typeflag, h.Size, content = tar.TypeReg, st.Size(), f
	}
	if err := w.WriteHeader(h); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if content == nil {
		return nil
	}
	if _, err := io.Copy(w, content); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
