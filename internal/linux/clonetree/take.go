package clonetree

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/again"
)

// Take takes back the contents of a directory that only this user can write to: its directories
// and files become this user's, from the top, and other users lose the right to write in the
// directories. Processes of the former owner may still have files open; they can change the
// content of those and nothing else. A file with several hard links keeps its owner, and a copy
// takes its place. An entry of a third user is an error: a link brought it there, which would
// give its content to whoever gets the copies. Symbolic links and special files stay.
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
	if err := closeToOthers(dir); err != nil {
		return err
	}
	return each(dir, func(name string) error { return takeEntry(dir, name, st.Uid) })
}

// closeToOthers takes the right to write in a directory from everybody but its owner. It reads the mode
// when nobody else can change it any longer.
func closeToOthers(dir *os.File) error {
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

// takeEntry takes back one entry that was that user's.
func takeEntry(at *os.File, name string, was uint32) error {
	f, st, err := openPath(at, name)
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
		return replaceByCopy(at, name, st)
	}
	return chown(f, int(self), os.Getegid())
}

// replaceByCopy replaces a file by a copy, in a directory in which only this user can write.
func replaceByCopy(dir *os.File, name string, st *unix.Stat_t) error {
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
