package netns

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Namespaces are a network namespace and a mount namespace, for programs that leave links, rules and
// mounts behind: all of it ends with the last descriptor or process. The mount namespace sees the mounts
// that were there when it was made.
type Namespaces struct {
	Net    *os.File
	mounts *os.File
}

// NewNamespaces makes the namespaces, which the caller closes. It needs CAP_SYS_ADMIN. The directories of own are empty
// in the namespaces, and what is written there ends with it; directories that are not there are skipped.
func NewNamespaces(own ...string) (r *Namespaces, err error) {
	r = &Namespaces{}
	if r.Net, err = New(); err != nil {
		return nil, err
	}
	err = onThread(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
			return fmt.Errorf("make a mount namespace: %w", err)
		}
		if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
			return fmt.Errorf("keep mounts in the mount namespace: %w", err)
		}
		for _, dir := range own {
			err := unix.Mount("tmpfs", dir, "tmpfs", 0, "mode=0700")
			if err != nil && !errors.Is(err, unix.ENOENT) {
				return fmt.Errorf("hide %s in the mount namespace: %w", dir, err)
			}
		}
		r.mounts, err = os.Open("/proc/thread-self/ns/mnt")
		return err
	})
	if err != nil {
		return nil, errors.Join(err, r.Net.Close())
	}
	return r, nil
}

// In runs f in the namespaces, as In does in a network namespace.
func (r *Namespaces) In(f func() error) error {
	return In(r.Net, func() error {
		// A thread that shares its root and working directory with others cannot change them.
		err := unix.Unshare(unix.CLONE_FS)
		if err == nil {
			err = unix.Setns(int(r.mounts.Fd()), unix.CLONE_NEWNS)
		}
		if err != nil {
			return fmt.Errorf("enter the mount namespace: %w", err)
		}
		return f()
	})
}

// Close closes the descriptors of both namespaces.
func (r *Namespaces) Close() error { return errors.Join(r.Net.Close(), r.mounts.Close()) }
