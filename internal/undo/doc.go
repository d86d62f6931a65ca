// Package undo is the folder of the way back: the steps that undo tare's changes of the host, and
// who else can write to the files that tare relies on.
//
//	journal   steps, written and synced before each change, and the order of undoing them
//	          (journal/steps: kinds that several folders write)
//	trust     whether another user could have written a file
//	ground    the directory of a run on the disk under test
//	hostlock  one run measures at a time
//
// It may import linux and base. The format of the journal links nothing that it undoes.
//
// To add a kind of step: a type in the folder that makes the change, and one line in
// catalog/steps.go.
package undo
