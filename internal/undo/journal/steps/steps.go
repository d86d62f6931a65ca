// Package steps are the kinds of steps whose changes most of tare makes: control groups,
// mounts, directories and processes. It has the functions that take such changes back, also
// for those who made them.
package steps

import "github.com/tarelab/tare/internal/undo/journal"

// Kinds are the kinds of this package, and more of others.
func Kinds(more ...journal.Kind) journal.Kinds {
	return append(journal.Kinds{
		journal.KindOf[Group](),
		journal.KindOf[Mount](),
		journal.KindOf[Directory](),
		journal.KindOf[Runtime](),
		journal.KindOf[Process](),
	}, more...)
}
