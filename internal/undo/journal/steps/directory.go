package steps

import (
	"path/filepath"

	"github.com/tarelab/tare/internal/undo/journal"
)

// Directory removes a directory with all in it, but never crosses a mount point. Its base name
// is tare-RUN or begins with tare-RUN-.
type Directory struct {
	Path string `json:"path,omitempty"`
}

// Kind is the word for it in a journal.
func (Directory) Kind() string { return "directory" }

// String names the directory.
func (d Directory) String() string { return d.Kind() + " " + d.Path }

// Lasts is true: a disk keeps its directories.
func (Directory) Lasts() bool { return true }

// Check refuses a directory whose name is not the run's.
func (d Directory) Check(run string) error { return checkDirectory(d.Path, run) }

func checkDirectory(path, run string) error {
	return journal.Own(journal.Plain(path) && journal.OfRun(filepath.Base(path), run), path)
}

// Undo removes the directory.
func (d Directory) Undo(*journal.Undoing) error { return RemoveDirectory(d.Path) }
