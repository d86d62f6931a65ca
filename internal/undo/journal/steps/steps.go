// Package steps has the kinds of steps that most of tare uses: control groups, mounts,
// directories and processes. Its functions that undo such changes are also for the code that
// made them.
package steps

import "github.com/tarelab/tare/internal/undo/journal"

// Kinds are the kinds of this package and more.
func Kinds(more ...journal.Kind) journal.Kinds {
	return append(journal.Kinds{
		journal.KindOf[Group](),
		journal.KindOf[Mount](),
		journal.KindOf[Directory](),
		journal.KindOf[Runtime](),
		journal.KindOf[Process](),
	}, more...)
}
