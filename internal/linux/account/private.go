package account

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/child"
)

// Private gives the calling thread, and processes that it starts, a mount namespace in which
// the account can reach dir. A small tmpfs covers the first directory that the account may not
// enter; dir alone is bound in it, at its own path. The account could not reach the covered
// files before either. The thread must not be used for anything else afterwards.
func (a Account) Private(dir string) error {
	if err := a.private(dir); err != nil {
		return fmt.Errorf("let user %d through to %s: %w", a.UID, dir, err)
	}
	return nil
}

// CanPrivate tries Private on a thread that ends.
func (a Account) CanPrivate(dir string) error {
	tried := make(chan error)
	child.Thread(func() { tried <- a.Private(dir) })
	return <-tried
}

func (a Account) private(dir string) error {
	forms, err := pathForms(dir)
	if err != nil {
		return err
	}
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("make a mount namespace: %w", err)
	}
	// Unmounts of the host must reach this namespace.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("separate its mounts: %w", err)
	}
	// A descriptor from before would be on a mount of the old namespace, which cannot be bound.
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: dir, Err: err}
	}
	defer unix.Close(fd)
	for _, form := range forms {
		blocked, err := a.blockedOn(form)
		if errors.Is(err, fs.ErrNotExist) { // the cover for the previous form hides it
			continue
		}
		if err == nil && blocked != "" {
			err = cover(blocked, form, fd)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// cover covers a directory with a tmpfs and binds dir, which is open, below it.
func cover(blocked, dir string, open int) error {
	if err := unix.Mount("tmpfs", blocked, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=64k,mode=755"); err != nil {
		return fmt.Errorf("cover %s: %w", blocked, err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := unix.Mount(fmt.Sprintf("/proc/self/fd/%d", open), dir, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("bind %s: %w", dir, err)
	}
	return nil
}
