package cli

import (
	"fmt"
	"slices"
	"strings"
)

// The exit codes of every command. README and docs/ci.md print codeMeanings.
const (
	exitOK          = 0
	exitError       = 1
	exitUsage       = 2
	exitExceeded    = 3
	exitUndecided   = 4
	exitUnsupported = 5
	exitInvalid     = 6
	exitBusy        = 7
	exitSignal      = 128 // plus the number of the signal
	exitInterrupted = exitSignal + 2
	exitTerminated  = exitSignal + 15
)

// codeMeaning is an exit code with its meaning, the same for all commands.
type codeMeaning struct {
	code  int
	means string
}

var codeMeanings = []codeMeaning{
	{exitOK, "done; a run without limits has measured, whatever it found"},
	{exitError, "an error, a damaged result, or nothing could be measured"},
	{exitUsage, "wrong usage: a flag, the experiment, or a file or directory that is named and is not there or not of the kind"},
	{exitExceeded, "a limit is exceeded"},
	{exitUndecided, "undecided: a longer run may decide"},
	{exitUnsupported, "this host cannot do it, or has too little disk space or process ids left"},
	{exitInvalid, "invalid: the data cannot support an answer, however long"},
	{exitBusy, "another run measures on this host"},
	{exitInterrupted, "ended by Ctrl-C; what was measured is kept"},
	{exitTerminated, "ended by SIGTERM; what was measured is kept"},
}

// exitCodes is the line about exit codes in the help of a command: done is the meaning of 0,
// others are its further codes.
func exitCodes(done string, others ...int) string {
	parts := []string{fmt.Sprintf("%d %s", exitOK, done)}
	for _, code := range others {
		i := slices.IndexFunc(codeMeanings, func(m codeMeaning) bool { return m.code == code })
		parts = append(parts, fmt.Sprintf("%d %s", code, codeMeanings[i].means))
	}
	return "Exit codes: " + strings.Join(parts, "; ") + "."
}
