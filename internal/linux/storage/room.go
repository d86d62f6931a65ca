package storage

import (
	"errors"
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Space is the size and free space of a file system in bytes, without what is reserved for
// root, and its inodes. Inodes is 0 if the file system makes them on demand.
type Space struct{ Size, Free, Inodes, FreeInodes int64 }

// Room is the space of the file system with a directory; if that does not exist, of the nearest
// one above.
func Room(dir string) (Space, error) {
	st, err := Answered(dir, func() (st unix.Statfs_t, err error) {
		err = unix.Statfs(Existing(dir), &st)
		return st, err
	})
	if err != nil {
		return Space{}, fmt.Errorf("find the free space of %s: %w", dir, err)
	}
	return spaceOf(st), nil
}

// spaceOf multiplies by the fragment size: blocks of FUSE are larger than the unit of the
// counts.
func spaceOf(st unix.Statfs_t) Space {
	unit := int64(st.Frsize)
	if unit <= 0 {
		unit = int64(st.Bsize)
	}
	return Space{
		Size: int64(st.Blocks) * unit, Free: int64(st.Bavail) * unit,
		Inodes: int64(st.Files), FreeInodes: int64(st.Ffree),
	}
}

// Existing is the directory, or the nearest one above that exists.
func Existing(dir string) string {
	for errors.Is(unix.Access(dir, unix.F_OK), unix.ENOENT) && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
	}
	return dir
}
