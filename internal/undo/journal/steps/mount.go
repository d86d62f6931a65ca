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

// Lasts is false: a restart of the machine ends all mounts.
func (Mount) Lasts() bool { return false }

// Check refuses a path without an element of the run.
func (m Mount) Check(run string) error { return journal.Own(journal.InRun(m.Path, run), m.Path) }

// Undo unmounts the path.
func (m Mount) Undo(*journal.Undoing) error { return Unmount(m.Path) }

// Unmount unmounts a path lazily, so that it succeeds while processes use the mount.
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
