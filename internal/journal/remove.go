package journal

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

// RemoveDirectory removes a directory with all in it. It follows no symbolic
// link and crosses no mount point: where there is one, nothing is removed.
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
	defer unix.Close(parent)
	if err := removeAt(parent, filepath.Base(path)); err != nil {
		return fmt.Errorf("remove %s: %w", path, err)
	}
	return nil
}

// notThere says that a path cannot be there: what should be a directory above it is
// missing, or is a file.
func notThere(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR)
}

// mountsBelow lists the mount points at and below a directory.
func mountsBelow(dir string) ([]string, error) {
	// Mountinfo names real directories.
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

// removeAt removes an entry of an open directory. Mounts that appear meanwhile
// are found by their mark (kernel 5.8) and left.
func removeAt(parent int, name string) error {
	err := again.Do(func() error { return unix.Unlinkat(parent, name, 0) })
	switch {
	case err == nil || errors.Is(err, unix.ENOENT):
		return nil
	case !errors.Is(err, unix.EISDIR) && !errors.Is(err, unix.EPERM): // EPERM is POSIX's word for a directory
		return &os.PathError{Op: "remove", Path: name, Err: err}
	}
	var st unix.Statx_t
	if err := unix.Statx(parent, name, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT, unix.STATX_TYPE, &st); err != nil {
		return &os.PathError{Op: "stat", Path: name, Err: err}
	}
	if st.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0 {
		return fmt.Errorf("%s is a mount point", name)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return &os.PathError{Op: "remove", Path: name, Err: err}
	}
	if err := removeEntries(parent, name); err != nil {
		return err
	}
	err = again.Do(func() error { return unix.Unlinkat(parent, name, unix.AT_REMOVEDIR) })
	if err != nil && !errors.Is(err, unix.ENOENT) {
		return &os.PathError{Op: "remove", Path: name, Err: err}
	}
	return nil
}

// removeEntries empties a directory, going on after errors.
func removeEntries(parent int, name string) error {
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd := -1
	open := func() (err error) { fd, err = unix.Openat(parent, name, flags, 0); return err }
	err := again.Do(open)
	if errors.Is(err, unix.EACCES) {
		// An overlay's work directory has mode 0; its owner may change that.
		if allow(parent, name) == nil {
			err = again.Do(open)
		}
	}
	if errors.Is(err, unix.ENOENT) {
		return nil // on a server, where somebody else removed it: this kernel still knew its name
	}
	if err != nil {
		return &os.PathError{Op: "open", Path: name, Err: err}
	}
	dir := os.NewFile(uintptr(fd), name)
	defer dir.Close()
	entries, err := dir.Readdirnames(-1)
	errs := []error{err}
	for _, e := range entries {
		errs = append(errs, removeAt(fd, e))
	}
	return errors.Join(errs...)
}

// allow lets the owner of a directory read it. It follows no symbolic link: chmod by
// name would, and another process may have put one there.
func allow(parent int, name string) error {
	fd, err := unix.Openat(parent, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Chmod(fmt.Sprintf("/proc/self/fd/%d", fd), 0o700)
}
