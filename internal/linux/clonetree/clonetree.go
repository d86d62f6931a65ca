// Package clonetree copies and measures directory trees, and shares blocks where the file
// system can (btrfs, xfs, bcachefs). It knows files and not their contents.
package clonetree

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Copy copies the tree at src to dst, which must not exist. It syncs files and directories, so
// that nothing of the copy is written back later. Modes and times are kept. Hard links become
// separate files. Anything but files, directories and symbolic links is an error. A user who
// can write at dst could put a link there: Copy writes nothing through it.
func Copy(dst, src string) error {
	if err := copyTree(dst, src); err != nil {
		return fmt.Errorf("copy %s to %s: %w", src, dst, err)
	}
	return nil
}

func copyTree(dst, src string) error {
	root, err := os.OpenRoot(filepath.Dir(dst))
	if err != nil {
		return err
	}
	defer root.Close()
	var dirs []string
	err = filepath.WalkDir(src, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(src, path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		to := filepath.Join(filepath.Base(dst), rel)
		switch {
		case info.IsDir():
			dirs = append(dirs, to)
			if err := root.Mkdir(to, 0o700); err != nil {
				return err
			}
			return root.Chmod(to, info.Mode().Perm()|0o700)
		case info.Mode().IsRegular():
			return copyFile(root, to, path, info)
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return root.Symlink(target, to)
		}
		return fmt.Errorf("%s is a %v", path, info.Mode().Type())
	})
	for i := len(dirs) - 1; i >= 0 && err == nil; i-- {
		err = syncDir(root, dirs[i])
	}
	return err
}

func copyFile(root *os.Root, dst, src string, info fs.FileInfo) error {
	in, err := os.Open(src)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := root.OpenFile(dst, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	err = copyBytes(out, in, info.Size())
	if err == nil {
		err = out.Chmod(info.Mode().Perm()) // without the umask
	}
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return root.Chtimes(dst, info.ModTime(), info.ModTime())
}

// copyBytes shares the blocks, or copies the parts that are not holes.
func copyBytes(out, in *os.File, size int64) error {
	if unix.IoctlFileClone(int(out.Fd()), int(in.Fd())) == nil {
		return nil
	}
	for at := int64(0); ; {
		from, to, err := extent(in, at, size)
		if err != nil {
			return err
		}
		if from == size {
			return out.Truncate(size) // a hole at the end
		}
		if err := copyExtent(out, in, from, to); err != nil {
			return err
		}
		at = to
	}
}

// extent is the next range of data from at on; from is size when there is none. Where the file
// system does not report holes it is the whole rest.
func extent(in *os.File, at, size int64) (from, to int64, err error) {
	if at >= size {
		return size, size, nil
	}
	from, err = unix.Seek(int(in.Fd()), at, unix.SEEK_DATA)
	switch {
	case errors.Is(err, unix.ENXIO):
		return size, size, nil
	case errors.Is(err, unix.EINVAL):
		return at, size, nil
	case err != nil:
		return 0, 0, err
	}
	to, err = unix.Seek(int(in.Fd()), from, unix.SEEK_HOLE)
	return from, min(to, size), err
}

// copyExtent copies a range in the kernel (copy_file_range) or by reading and writing; io.CopyN
// chooses.
func copyExtent(out, in *os.File, from, to int64) error {
	if _, err := in.Seek(from, io.SeekStart); err != nil {
		return err
	}
	if _, err := out.Seek(from, io.SeekStart); err != nil {
		return err
	}
	n, err := io.CopyN(out, in, to-from)
	if errors.Is(err, io.EOF) {
		err = fmt.Errorf("%s became shorter while it was copied, %d bytes of %d", in.Name(), n, to-from)
	}
	return err
}

func syncDir(root *os.Root, dir string) error {
	d, err := root.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Size is the size in bytes of all files in the tree at dir.
func Size(dir string) (bytes int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			bytes += info.Size()
		}
		return err
	})
	return bytes, err
}
