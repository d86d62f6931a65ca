// Package ground makes the directories that tare works in, at a place that the user names: on
// the disk under test, perhaps in a directory of another user such as a database. The owner of
// that directory can rename its entries and replace them by links. So root works there through a
// bind mount below /run/tare, whose path nobody else can change and every account can enter. Root
// does the same below a directory that other accounts cannot enter.
package ground

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/account"
	"github.com/tarelab/tare/internal/linux/again"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/internal/undo/journal/steps"
	"github.com/tarelab/tare/internal/undo/trust"
)

// Record writes a step to the journal, before the change is made, and keeps back, the function that
// undoes the change.
type Record func(s journal.Step, back func() error) error

// points is the directory with the mount points of all runs.
const points = "/run/tare"

// Make makes a directory, with a name that the journal may remove, and returns the path to use for
// it, which may be a bind mount elsewhere. The parent directory must exist.
func Make(record Record, path string, mode fs.FileMode) (string, error) {
	if err := record(steps.Directory{Path: path}, func() error { return steps.RemoveDirectory(path) }); err != nil {
		return "", err
	}
	parent := filepath.Dir(path)
	if os.Geteuid() != 0 || trust.Dir(parent) == nil && (enterable(parent) || !account.CanMount()) {
		if err := os.Mkdir(path, mode); err != nil {
			return "", err
		}
		return path, os.Chmod(path, mode) // without the umask
	}
	dir, err := create(path, mode)
	if err != nil {
		return "", err
	}
	defer dir.Close()
	return mountAt(record, dir, filepath.Base(path))
}

// enterable says whether all accounts can enter a directory. The server of an arm on the host does
// not run as root, so it could not reach data below root's home.
func enterable(dir string) bool {
	blocked, err := account.Nobody.Blocked(filepath.Join(dir, "."))
	if err != nil || blocked != "" {
		return false
	}
	info, err := os.Stat(dir)
	return err == nil && info.Mode().Perm()&0o001 != 0
}

// create makes a directory and opens it. If somebody has put another directory in its place between
// the two, checkOwn finds that it is not root's.
func create(path string, mode fs.FileMode) (*os.File, error) {
	parent, err := unix.Open(filepath.Dir(path), unix.O_DIRECTORY|unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: filepath.Dir(path), Err: err}
	}
	defer unix.Close(parent)
	name := filepath.Base(path)
	if err := again.Do(func() error { return unix.Mkdirat(parent, name, uint32(mode.Perm())) }); err != nil {
		return nil, &os.PathError{Op: "make", Path: path, Err: err}
	}
	fd, err := unix.Openat(parent, name, unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	dir := os.NewFile(uintptr(fd), path)
	if err = checkOwn(dir); err == nil {
		err = dir.Chmod(mode) // without the umask
	}
	if err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	return dir, nil
}

// checkOwn returns an error if an open directory is not the empty one that root has just made.
func checkOwn(dir *os.File) error {
	var st unix.Stat_t
	var where unix.Statfs_t
	if err := errors.Join(unix.Fstat(int(dir.Fd()), &st), unix.Fstatfs(int(dir.Fd()), &where)); err != nil {
		return fmt.Errorf("look at %s: %w", dir.Name(), err)
	}
	names, _ := dir.Readdirnames(1)
	// An NFS server may squash root to nobody, who then owns the new directory.
	if len(names) > 0 || st.Uid != 0 && where.Type != unix.NFS_SUPER_MAGIC {
		return hint.New(fmt.Errorf("%s is not the directory that was made a moment ago: user %d has put it there", dir.Name(), st.Uid),
			"name a directory in which only root can write")
	}
	return nil
}

// free is the first of path, path-2, path-3 and so on that does not exist. path itself may exist: an
// arm with an NFS volume has two directories of one name, one here and one on the server.
func free(path string) (string, error) {
	const most = 100
	for n := 1; n <= most; n++ {
		at := path
		if n > 1 {
			at = fmt.Sprintf("%s-%d", path, n)
		}
		if _, err := os.Lstat(at); errors.Is(err, fs.ErrNotExist) {
			return at, nil
		} else if err != nil {
			return "", err
		}
	}
	return "", &os.PathError{Op: "make", Path: path, Err: fs.ErrExist}
}

// mountAt bind-mounts an open directory on a new mount point below points, in which only root can
// write. It returns the mount point.
func mountAt(record Record, dir *os.File, name string) (string, error) {
	err := os.MkdirAll(points, 0o755)
	if err == nil {
		err = trust.Dir(points)
	}
	var point string
	if err == nil {
		point, err = free(filepath.Join(points, name))
	}
	if err == nil {
		err = record(steps.Directory{Path: point}, func() error { return steps.RemoveDirectory(point) })
	}
	if err == nil {
		err = os.Mkdir(point, 0o700)
	}
	if err == nil {
		err = record(steps.Mount{Path: point}, func() error { return steps.Unmount(point) })
	}
	if err == nil {
		err = unix.Mount(fmt.Sprintf("/proc/self/fd/%d", dir.Fd()), point, "", unix.MS_BIND, "")
	}
	if err != nil {
		return "", hint.New(fmt.Errorf("mount %s, which other users can move or cannot enter: %w", dir.Name(), err), "name a directory in which only root can write and that all can pass, such as /var/tmp")
	}
	return point, nil
}
