// Package steps has the kinds of journal steps that several packages write: cgroups, mounts, directories
// and processes. The code that makes such a change undoes it with the same functions.
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
