package clonetree

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/again"
)

// Take takes back what is in a directory of this user's, in which only this user could
// write: directories and files become this user's, and directories such that nobody else
// can write in them, from the top. Processes of the former owner may still hold some of
// them: from then on they can change what is in a file that they have open, and nothing
// else. A file that has another name stays whose it is, and a copy takes its place. What
// is in a directory of another user's and not that user's is an error: it came there by
// a link, which showed it to whoever is given the copies. Links and the like stay.
func Take(dir string) error {
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("take back %s: %w", dir, err)
	}
	top, st := os.NewFile(uintptr(fd), dir), &unix.Stat_t{}
	defer top.Close()
	if err = unix.Fstat(fd, st); err == nil && int(st.Uid) != os.Geteuid() {
		err = fmt.Errorf("it is of user %d", st.Uid)
	}
	if err == nil {
		err = takeDir(top, st)
	}
	if err != nil {
		return fmt.Errorf("take back %s: %w", dir, err)
	}
	return nil
}

func takeDir(dir *os.File, st *unix.Stat_t) error {
	if int(st.Uid) != os.Geteuid() {
		if err := chown(dir, os.Geteuid(), os.Getegid()); err != nil {
			return err
		}
	}
	if err := shut(dir); err != nil {
		return err
	}
	return each(dir, func(name string) error { return take(dir, name, st.Uid) })
}

// shut lets nobody but its owner write in a directory. Its mode is read when nobody else
// can change that any more.
func shut(dir *os.File) error {
	open, err := reopen(dir)
	if err != nil {
		return err
	}
	defer open.Close()
	info, err := open.Stat()
	if err != nil || info.Mode().Perm()&0o022 == 0 {
		return err
	}
	return open.Chmod(info.Mode().Perm() &^ 0o022)
}

// take takes an entry of a directory that was that user's.
func take(at *os.File, name string, was uint32) error {
	f, st, err := look(at, name)
	if err != nil {
		return err
	}
	defer f.Close()
	self := uint32(os.Geteuid())
	switch {
	case was != self && st.Uid != was:
		return fmt.Errorf("%s is of user %d, in a directory of user %d", f.Name(), st.Uid, was)
	case isDir(st):
		return takeDir(f, st)
	case st.Uid == self, st.Mode&unix.S_IFMT != unix.S_IFREG:
		return nil
	case st.Nlink > 1:
		return apart(at, name, st)
	}
	return chown(f, int(self), os.Getegid())
}

// apart puts a copy in the place of a file, in a directory in which nobody else can write.
func apart(dir *os.File, name string, st *unix.Stat_t) error {
	const part = ".tare-apart"
	in, err := openAt(dir, name, unix.O_RDONLY|unix.O_NONBLOCK)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := openAt(dir, part, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL)
	if err != nil {
		return err
	}
	err = copyBytes(out, in, st.Size)
	if err == nil {
		err = out.Chmod(os.FileMode(st.Mode & 0o755))
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	if err := again.Do(func() error { return unix.Renameat(int(dir.Fd()), part, int(dir.Fd()), name) }); err != nil {
		return &os.PathError{Op: "rename", Path: in.Name(), Err: err}
	}
	return nil
}
