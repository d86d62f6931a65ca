package clonetree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/again"
)

// Give gives the entries of these names in an open directory to another user; of a directory
// first its entries, then itself. Missing names are skipped. The new owner must not get
// anything else by planting links meanwhile: Give follows no link, a file with several hard
// links is an error, and a directory that is that user's already is left with all in it.
func Give(root *os.Root, uid, gid int, names ...string) error {
	top, err := root.Open(".")
	if err == nil {
		defer top.Close()
		for _, name := range names {
			if err == nil {
				err = give(top, name, uid, gid)
			}
		}
	}
	if err != nil {
		return fmt.Errorf("give %s to user %d: %w", root.Name(), uid, err)
	}
	return nil
}

// GiveAll gives away a whole directory that only this user can have changed until now.
func GiveAll(dir string, uid, gid int) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("give %s to user %d: %w", dir, uid, err)
	}
	defer root.Close()
	return Give(root, uid, gid, ".")
}

func give(at *os.File, name string, uid, gid int) error {
	f, st, err := openPath(at, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	switch {
	case int(st.Uid) == uid:
		return nil // a directory is given last: its entries were given before, or are that user's own work
	case int(st.Uid) != os.Geteuid(): // also a user that this namespace shows as nobody
		return fmt.Errorf("%s is of user %d: %w", f.Name(), st.Uid, unix.EPERM)
	case isDir(st):
		err = each(f, func(name string) error { return give(f, name, uid, gid) })
	case st.Nlink > 1:
		err = fmt.Errorf("%s has several hard links: it may be somebody else's", f.Name())
	}
	if err != nil {
		return err
	}
	return chown(f, uid, gid)
}

// openPath opens an entry of a directory with O_PATH: it follows no link and reads nothing.
func openPath(at *os.File, name string) (*os.File, *unix.Stat_t, error) {
	f, err := openAt(at, name, unix.O_PATH)
	if err != nil {
		return nil, nil, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return nil, nil, errors.Join(&os.PathError{Op: "stat", Path: f.Name(), Err: err}, f.Close())
	}
	return f, &st, nil
}

// openAt opens an entry of a directory and follows no link.
func openAt(at *os.File, name string, flags int) (*os.File, error) {
	fd, path := -1, filepath.Join(at.Name(), name)
	err := again.Do(func() (err error) {
		fd, err = unix.Openat(int(at.Fd()), name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
		return err
	})
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

func isDir(st *unix.Stat_t) bool { return st.Mode&unix.S_IFMT == unix.S_IFDIR }

// each calls f for the name of each entry of a directory from openPath.
func each(dir *os.File, f func(name string) error) error {
	open, err := reopen(dir)
	if err != nil {
		return err
	}
	names, err := open.Readdirnames(-1)
	err = errors.Join(err, open.Close())
	for _, name := range names {
		if err == nil {
			err = f(name)
		}
	}
	return err
}

// reopen opens a directory from openPath for reading and changing.
func reopen(dir *os.File) (*os.File, error) { return openAt(dir, ".", unix.O_RDONLY|unix.O_DIRECTORY) }

// chown changes the owner of an entry from openPath.
func chown(f *os.File, uid, gid int) error {
	err := again.Do(func() error { return unix.Fchownat(int(f.Fd()), "", uid, gid, unix.AT_EMPTY_PATH) })
	if err != nil {
		return &os.PathError{Op: "chown", Path: f.Name(), Err: err}
	}
	return nil
}
