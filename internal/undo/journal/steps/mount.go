package steps

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/undo/journal"
)

// Mount unmounts a path lazily. An element of the path is tare-RUN or begins with tare-RUN-.
type Mount struct {
	Path string `json:"path,omitempty"`
}

// Kind is the word for it in a journal.
func (Mount) Kind() string { return "mount" }

// String names the mount point.
func (m Mount) String() string { return m.Kind() + " " + m.Path }

// Lasts is false: mounts end with the machine.
func (Mount) Lasts() bool { return false }

// Check refuses a path that leads through nothing of the run's.
func (m Mount) Check(run string) error { return journal.Own(journal.InRun(m.Path, run), m.Path) }

// Undo unmounts it.
func (m Mount) Undo(*journal.Undoing) error { return Unmount(m.Path) }

// Unmount takes one mount away, lazily, so that users of it do not hinder.
func Unmount(path string) error {
	err := unix.Unmount(path, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW)
	switch {
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOENT): // not a mount point, or gone
		return nil
	case err != nil:
		return &os.PathError{Op: "unmount", Path: path, Err: err}
	}
	return nil
}
