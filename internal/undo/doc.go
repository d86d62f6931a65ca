// Package undo is the folder for undoing tare's changes of the host. Undoing as root is safe only
// if no other user could have written the files that say what to undo, so the checks of that are
// here too.
//
//	journal   the undo log of a run: a step is written and synced before each change
//	          (journal/steps: kinds of steps that several folders write)
//	trust     whether another user could have written a file
//	ground    the directory of a run on the disk under test
//	hostlock  only one run measures at a time
//
// It may import linux and base. Package journal imports no package whose changes it undoes: the
// caller passes the kinds of steps.
//
// To add a kind of step: define a type in the folder that makes the change, and add one line to
// catalog/steps.go.
package undo
