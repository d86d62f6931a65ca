package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/databases/dataset"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/storage"
	"github.com/tarelab/tare/internal/undo/journal"
)

// scratchAt is the absolute path of the directory under test. A missing directory is an error:
// with a misspelt name or an unmounted disk another file system would be measured.
func scratchAt(given string) (string, error) {
	path, err := filepath.Abs(given)
	if err != nil {
		return "", fmt.Errorf("scratch directory %s: %w", given, err)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = hint.New(fmt.Errorf("there is no scratch directory %s", path), "mount it or make it first: what is measured is the file system below it")
	case err == nil && !info.IsDir():
		err = hint.New(fmt.Errorf("scratch directory %s is a file", path), "name a directory with --scratch")
	case err != nil:
		err = fmt.Errorf("scratch directory: %w", err)
	default:
		err = cmp.Or(takesFiles(path), writable("scratch directory "+path, path, "--scratch"), outsideData("scratch directory", path))
	}
	if usage := (*usageError)(nil); err != nil && !errors.As(err, &usage) {
		err = &usageError{err, ""}
	}
	return path, err
}

// outsideData returns an error if a directory is in the data directory of a server. what begins the error.
func outsideData(what, dir string) error {
	if err := storage.LiveData("/", dir); err != nil {
		return &usageError{fmt.Errorf("%s %w", what, err), ""}
	}
	return nil
}

// ownDirsOutsideData checks the directories of this user in which tare keeps data sets and journals.
func ownDirsOutsideData() error {
	store, err := dataset.Default()
	if err != nil {
		return nil // the run says why
	}
	for _, d := range []struct{ what, dir, variable string }{
		{"directory of data sets", store.Dir, "XDG_CACHE_HOME"}, {"directory of the undo journal", journal.StateDir(), "XDG_STATE_HOME"},
	} {
		if err := storage.LiveData("/", d.dir); err != nil {
			return &usageError{hint.New(fmt.Errorf("%s %w", d.what, err), "set "+d.variable+" to a directory outside of it"), ""}
		}
	}
	return nil
}

// kernels are file systems without files of users, by their magic number (statfs(2)).
var kernels = map[int64]string{
	unix.PROC_SUPER_MAGIC: "proc", unix.SYSFS_MAGIC: "sysfs", unix.CGROUP_SUPER_MAGIC: "cgroup", unix.CGROUP2_SUPER_MAGIC: "cgroup2",
	unix.DEBUGFS_MAGIC: "debugfs", unix.TRACEFS_MAGIC: "tracefs", unix.SECURITYFS_MAGIC: "securityfs", unix.BPF_FS_MAGIC: "bpf",
	unix.DEVPTS_SUPER_MAGIC: "devpts", 0x19800202: "mqueue", unix.EFIVARFS_MAGIC: "efivarfs", unix.SELINUX_MAGIC: "selinuxfs",
	unix.BINFMTFS_MAGIC: "binfmt_misc", unix.PSTOREFS_MAGIC: "pstore", unix.NSFS_MAGIC: "nsfs", configfs: "configfs",
}

const configfs = 0x62656570

// takesFiles returns an error if a directory is in a file system of kernels, or is /dev.
func takesFiles(path string) error {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return hint.New(fmt.Errorf("scratch directory %s: %w", path, err), "name another with --scratch")
	}
	name, kernel := kernels[int64(st.Type)]
	if real, err := filepath.EvalSymlinks(path); !kernel && err == nil && real == "/dev" {
		name, kernel = "the devices'", true
	}
	if !kernel {
		return nil
	}
	return hint.New(fmt.Errorf("scratch directory %s is in a file system of the kernel's own (%s), which holds no data", path, name),
		"name a directory on the disk under test: --scratch /var/tmp")
}

// writable returns an error if nothing can be made in dir. what begins the error; flag names
// another directory.
func writable(what, dir, flag string) error {
	another := "name another with " + flag
	err := unix.Access(dir, unix.W_OK|unix.X_OK)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		err = hint.New(fmt.Errorf("%s: there is no directory %s", what, dir), "mkdir -p "+dir)
	case errors.Is(err, unix.EROFS):
		err = hint.New(fmt.Errorf("%s: the file system is mounted read-only", what), another)
	case errors.Is(err, unix.ENOTDIR):
		err = hint.New(fmt.Errorf("%s: %s is a file", what, dir), another)
	case errors.Is(err, unix.EACCES):
		err = hint.New(fmt.Errorf("%s: this user cannot write there", what), another+", or run as root")
	default:
		err = hint.New(fmt.Errorf("%s: %w", what, err), another)
	}
	return &usageError{err, ""}
}

// procHere returns an error where the kernel's /proc is not mounted or is hidden: tare reads all of the host there.
func procHere(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, "self", "mountinfo")); err != nil {
		return hint.New(fmt.Errorf("%w: %s does not show this process: it is not mounted, or something is mounted over it", facts.ErrUnsupported, dir), "mount -t proc proc "+dir)
	}
	return nil
}
