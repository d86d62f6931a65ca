package enforce

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/undo/journal"
)

// ClassStep removes a group of resctrl; its tasks go back to the default group. Only older
// versions of tare wrote such steps. The base name of the path is tare-RUN or begins with
// tare-RUN-.
type ClassStep struct {
	Path string `json:"path,omitempty"`
}

// Kind is the word for it in a journal.
func (ClassStep) Kind() string { return "resctrl" }

// String names the group.
func (s ClassStep) String() string { return s.Kind() + " " + s.Path }

// Lasts is false: groups of resctrl end with the machine.
func (ClassStep) Lasts() bool { return false }

// Check refuses groups that are not the run's.
func (s ClassStep) Check(run string) error {
	return journal.Own(journal.Plain(s.Path) && journal.OfRun(filepath.Base(s.Path), run), s.Path)
}

// Undo removes the group; its files go with it.
func (s ClassStep) Undo(*journal.Undoing) error {
	if _, err := os.Lstat(s.Path); errors.Is(err, os.ErrNotExist) {
		return nil // a file system that is read-only would not say that
	}
	if err := unix.Rmdir(s.Path); err != nil && !errors.Is(err, unix.ENOENT) {
		return &os.PathError{Op: "remove", Path: s.Path, Err: err}
	}
	return nil
}
