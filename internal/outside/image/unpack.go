package image

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/tarelab/tare/internal/outside/dirtar"
)

// Unpack unpacks the root file system of an image into an existing directory. Nothing in
// the archive can lead out of the directory. Devices and FIFOs are not unpacked.
func Unpack(ctx context.Context, file, dir string) error {
	img, err := tarball.ImageFromPath(file, nil)
	if err != nil {
		return fmt.Errorf("read the image %s: %w", file, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("unpack the image: %w", err)
	}
	defer root.Close()
	content := mutate.Extract(img) // layers merged
	defer content.Close()
	if err := unpackAll(ctx, root, content); err != nil {
		return fmt.Errorf("unpack the image %s: %w", file, err)
	}
	return nil
}

// unpackAll unpacks an archive within the bounds of dirtar.
func unpackAll(ctx context.Context, root *os.Root, archive io.Reader) error {
	var made dirtar.Entries
	for r := tar.NewReader(archive); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = made.Add(h)
		}
		if err != nil {
			return err
		}
		if err := unpackOne(root, h, r); err != nil {
			return fmt.Errorf("unpack %s: %w", h.Name, err)
		}
	}
}

func unpackOne(root *os.Root, h *tar.Header, content io.Reader) error {
	name := filepath.Clean(h.Name)
	if name == "." {
		return nil
	}
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	mode := h.FileInfo().Mode()
	var err error
	switch h.Typeflag {
	case tar.TypeDir:
		if err = root.Mkdir(name, 0o755); errors.Is(err, fs.ErrExist) {
			err = nil
		}
	case tar.TypeReg:
		err = unpackFile(root, name, content)
	case tar.TypeSymlink:
		return errors.Join(root.Symlink(h.Linkname, name), root.Lchown(name, h.Uid, h.Gid))
	case tar.TypeLink:
		return root.Link(filepath.Clean(h.Linkname), name)
	default:
		return nil
	}
	if err == nil {
		err = root.Lchown(name, h.Uid, h.Gid)
	}
	if err == nil { // after chown, which clears setuid and setgid
		err = root.Chmod(name, mode&(fs.ModePerm|fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky))
	}
	return err
}

func unpackFile(root *os.Root, name string, content io.Reader) error {
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	return errors.Join(err, f.Close())
}
