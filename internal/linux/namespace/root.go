package namespace

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Overlay is an overlay file system. Of the lower directory it shows only that directory's own
// file system, and no mounts below it.
type Overlay struct {
	Lower, Upper, Work string
	// User says that it is mounted in a user namespace (Linux 5.11).
	User bool
}

// Mount mounts the overlay at target, an existing directory.
func (o Overlay) Mount(target string) error {
	data := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", escape(o.Lower), escape(o.Upper), escape(o.Work))
	// As Docker and containerd do: without an index the upper directory can be used again after
	// an unclean end.
	if _, err := os.Stat("/sys/module/overlay/parameters/index"); err == nil {
		data += ",index=off"
	}
	if o.User {
		data += ",userxattr"
	}
	if len(data) >= os.Getpagesize() {
		return fmt.Errorf("mount overlay: the paths are too long for one page of options: %s", data)
	}
	if err := unix.Mount("overlay", target, "overlay", 0, data); err != nil {
		return fmt.Errorf("mount overlay (%s): %w", data, err)
	}
	return nil
}

// escape escapes the characters with a meaning in overlay's options.
func escape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `,`, `\,`, `:`, `\:`).Replace(path)
}

// PivotRoot makes dir, a mount point, the root of this mount namespace, unmounts the old root,
// and changes the working directory to the new root.
func PivotRoot(dir string) error {
	if err := pivot(dir); err != nil {
		return fmt.Errorf("change the root to %s: %w", dir, err)
	}
	return nil
}

func pivot(dir string) error {
	old, err := unix.Open("/", unix.O_DIRECTORY|unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(old)
	if err := unix.Chdir(dir); err != nil {
		return err
	}
	// With the same path twice the old root is mounted over the new one and needs no directory
	// there; see pivot_root(2).
	if err := unix.PivotRoot(".", "."); err != nil {
		return err
	}
	if err := unix.Fchdir(old); err != nil {
		return err
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return err
	}
	return unix.Chdir("/")
}

// device is a node of /dev.
type device struct {
	name         string
	major, minor uint32
}

// devices are those that every container has, by the OCI runtime specification.
var devices = []device{
	{"null", 1, 3}, {"zero", 1, 5}, {"full", 1, 7}, {"random", 1, 8}, {"urandom", 1, 9}, {"tty", 5, 0},
}

var devLinks = map[string]string{
	"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1",
	"stderr": "/proc/self/fd/2", "core": "/proc/kcore", "ptmx": "pts/ptmx",
}

// Devices fills dev, a fresh file system, with the usual nodes and links. A user namespace
// cannot make nodes; there the host's nodes are bound.
func Devices(dev string, user bool) error {
	old := unix.Umask(0)
	defer unix.Umask(old)
	for _, d := range devices {
		path := filepath.Join(dev, d.name)
		err := error(nil)
		if user {
			if err = makeFile(path); err == nil {
				err = unix.Mount("/dev/"+d.name, path, "", unix.MS_BIND, "")
			}
		} else {
			err = unix.Mknod(path, unix.S_IFCHR|0o666, int(unix.Mkdev(d.major, d.minor)))
		}
		if err != nil {
			return fmt.Errorf("make /dev/%s: %w", d.name, err)
		}
	}
	for name, target := range devLinks {
		if _, err := os.Stat("/proc/kcore"); name == "core" && err != nil {
			continue
		}
		if err := os.Symlink(target, filepath.Join(dev, name)); err != nil {
			return fmt.Errorf("make /dev/%s: %w", name, err)
		}
	}
	return nil
}
