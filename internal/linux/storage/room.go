package storage

import (
	"errors"
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Space is what a file system has for this user: in bytes, without what is reserved for root,
// and in inodes; without Inodes there is no fixed number of them.
type Space struct{ Size, Free, Inodes, FreeInodes int64 }

// Room asks the file system of a directory, or of the nearest directory above it that there is.
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

// spaceOf counts in fragments: file systems of FUSE have larger blocks.
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

// Existing is the nearest directory above that there is.
func Existing(dir string) string {
	for errors.Is(unix.Access(dir, unix.F_OK), unix.ENOENT) && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
	}
	return dir
}
