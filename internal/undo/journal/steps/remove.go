package steps

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/again"
	"github.com/tarelab/tare/internal/linux/proc"
)

// RemoveDirectory removes a directory with everything in it. It follows no symbolic link. If a file
// system is mounted on or below the directory, it removes nothing and returns an error.
func RemoveDirectory(path string) error {
	mounts, err := mountsBelow(path)
	if err != nil {
		return fmt.Errorf("look for mounts below %s: %w", path, err)
	}
	if len(mounts) > 0 {
		return fmt.Errorf("remove %s: %s is mounted in it: umount %s", path, mounts[0], mounts[0])
	}
	parent, err := unix.Open(filepath.Dir(path), unix.O_DIRECTORY|unix.O_PATH|unix.O_CLOEXEC, 0)
	if notThere(err) {
		return nil
	}
	if err != nil {
		return &os.PathError{Op: "open", Path: filepath.Dir(path), Err: err}
	}
	w := walker{fd: parent}
	defer func() { unix.Close(w.fd) }()
	// A file system that is read-only says so before it says that there is no such entry.
	var st unix.Stat_t
	if err := unix.Fstatat(parent, filepath.Base(path), &st, unix.AT_SYMLINK_NOFOLLOW); notThere(err) {
		return nil
	}
	if err := w.remove(filepath.Base(path)); err != nil {
		return fmt.Errorf("remove %s: %w", path, err)
	}
	return nil
}

// notThere says whether an error means that a path does not exist: it or a directory above it is
// missing, or a file is where a directory should be.
func notThere(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR)
}

// mountsBelow are the mount points at and below a directory.
func mountsBelow(dir string) ([]string, error) {
	// mountinfo has paths without symbolic links.
	real, err := filepath.EvalSymlinks(filepath.Dir(dir))
	if notThere(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	dir = filepath.Join(real, filepath.Base(dir))
	mounts, err := proc.FS("/").Mounts()
	if err != nil {
		return nil, err
	}
	var found []string
	for _, m := range mounts {
		if m.Point == dir || strings.HasPrefix(m.Point, dir+"/") {
			found = append(found, m.Point)
		}
	}
	return found, nil
}

// walker removes a directory tree. It has only one directory open at a time, the current one: a tree
// may be deeper than a process may have descriptors.
type walker struct {
	fd    int
	depth int // of the current directory below the one that RemoveDirectory removes
}

// deepest limits the memory for the walk of a tree.
const deepest = 200_000

// errMoved means that another process moved a directory while its entries were removed. The walker
// then does not know where its current directory is, so it removes nothing more.
var errMoved = errors.New("it was moved while it was removed")

// remove removes an entry of the current directory. A file system may have been mounted on it since
// RemoveDirectory looked: remove recognises that by STATX_ATTR_MOUNT_ROOT (Linux 5.8) and returns an
// error.
func (w *walker) remove(name string) error {
	err := again.Do(func() error { return unix.Unlinkat(w.fd, name, 0) })
	switch {
	case err == nil || errors.Is(err, unix.ENOENT):
		return nil
	case !errors.Is(err, unix.EISDIR) && !errors.Is(err, unix.EPERM): // POSIX: unlink of a directory is EPERM; Linux: EISDIR
		return &os.PathError{Op: "remove", Path: name, Err: err}
	}
	var st unix.Statx_t
	if err := unix.Statx(w.fd, name, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT, unix.STATX_TYPE, &st); err != nil {
		return &os.PathError{Op: "stat", Path: name, Err: err}
	}
	if st.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0 {
		return fmt.Errorf("%s is a mount point", name)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return &os.PathError{Op: "remove", Path: name, Err: err}
	}
	if err := w.empty(name); err != nil {
		return err
	}
	err = again.Do(func() error { return unix.Unlinkat(w.fd, name, unix.AT_REMOVEDIR) })
	if err != nil && !errors.Is(err, unix.ENOENT) {
		return &os.PathError{Op: "remove", Path: name, Err: err}
	}
	return nil
}

// empty removes the entries of a subdirectory of the current directory. It goes on after errors, and
// then makes the current directory the current one again.
func (w *walker) empty(name string) error {
	above, err := identityOf(w.fd)
	if err != nil {
		return &os.PathError{Op: "stat", Path: name + "/..", Err: err}
	}
	entries, err := w.enter(name)
	if errors.Is(err, unix.ENOENT) {
		return nil // removed on its server by another client, while this kernel still had the name cached
	}
	if entries == nil && err != nil {
		return err
	}
	errs := []error{err}
	for _, e := range entries {
		err := w.remove(e)
		if errs = append(errs, err); errors.Is(err, errMoved) {
			return errors.Join(errs...)
		}
	}
	return errors.Join(append(errs, w.leave(name, above))...)
}

const intoDirectory = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

// enter makes a subdirectory the current directory and returns the names of its entries. If entries
// is nil, the current directory has not changed.
func (w *walker) enter(name string) (entries []string, err error) {
	fd, err := openAt(w.fd, name, intoDirectory)
	if errors.Is(err, unix.EACCES) && makeReadable(w.fd, name) == nil {
		// An overlay's work directory has mode 0; its owner may change that.
		fd, err = openAt(w.fd, name, intoDirectory)
	}
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	if w.depth == deepest {
		unix.Close(fd)
		return nil, fmt.Errorf("%s is more than %d directories deep", name, deepest)
	}
	entries, err = namesIn(fd, name)
	unix.Close(w.fd)
	w.fd = fd
	w.depth++
	return append([]string{}, entries...), err
}

// leave makes the directory above the current one, if it is still the directory that enter left.
func (w *walker) leave(name string, above identity) error {
	const up = unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := openAt(w.fd, "..", up)
	if errors.Is(err, unix.EACCES) && unix.Chmod(fmt.Sprintf("/proc/self/fd/%d", w.fd), 0o700) == nil {
		fd, err = openAt(w.fd, "..", up)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errMoved, &os.PathError{Op: "open", Path: name + "/..", Err: err})
	}
	if got, err := identityOf(fd); err != nil || got != above {
		unix.Close(fd)
		return errors.Join(fmt.Errorf("%s: %w", name, errMoved), err)
	}
	unix.Close(w.fd)
	w.fd = fd
	w.depth--
	return nil
}

// identity identifies a directory.
type identity struct{ device, inode uint64 }

func identityOf(fd int) (identity, error) {
	var st unix.Stat_t
	err := unix.Fstat(fd, &st)
	return identity{uint64(st.Dev), st.Ino}, err
}

func openAt(fd int, name string, flags int) (opened int, err error) {
	opened = -1
	err = again.Do(func() (err error) { opened, err = unix.Openat(fd, name, flags, 0); return err })
	return opened, err
}

// namesIn are the names of the entries of an open directory.
func namesIn(fd int, name string) ([]string, error) {
	other, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	dir := os.NewFile(uintptr(other), name)
	defer dir.Close()
	return dir.Readdirnames(-1)
}

// makeReadable gives the owner of a directory all rights to it (mode 0700). It follows no symbolic
// link, unlike chmod by name: another process may have put a link there.
func makeReadable(parent int, name string) error {
	fd, err := unix.Openat(parent, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Chmod(fmt.Sprintf("/proc/self/fd/%d", fd), 0o700)
}
