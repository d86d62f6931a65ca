// Package undo is the folder that undoes changes of the host, and decides which files, directories
// and runs tare may rely on for that.
//
//	journal   steps, written and synced before each change, and the order of undoing them;
//	          journal/steps has the kinds that several folders write
//	trust     whether another user could have written a file
//	ground    the directory that a run works in
//	hostlock  one run measures at a time
//
// It may import linux, base and record. The format of the journal links nothing that it undoes.
//
// To add: a kind of step is a type in the folder that makes the change, and one line in
// catalog/steps.go.
package undo
