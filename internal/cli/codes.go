package cli

import (
	"slices"

	"github.com/alecthomas/kong"

	"github.com/tarelab/tare/internal/base/messages"
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

// exitCodes are the exit codes of a command: done is the meaning of 0, others are its further codes.
func exitCodes(done string, others ...int) []codeMeaning {
	all := []codeMeaning{{exitOK, done}}
	for _, code := range others {
		i := slices.IndexFunc(codeMeanings, func(m codeMeaning) bool { return m.code == code })
		all = append(all, codeMeanings[i])
	}
	return all
}

// exitCodesOf are the exit codes of a command; nil: it is not one that runs.
func exitCodesOf(n *kong.Node) []codeMeaning {
	if n.Target.IsValid() && n.Target.CanAddr() {
		if x, ok := n.Target.Addr().Interface().(interface{ exits() []codeMeaning }); ok {
			return x.exits()
		}
	}
	return nil
}

// exitCodesLine is the last paragraph of the help of a command; "": it has no exit codes.
func exitCodesLine(n *kong.Node, in messages.Catalog) string {
	var parts []string
	for _, m := range exitCodesOf(n) {
		parts = append(parts, in.Text("help.code", "code", m.code, "means", in.Static(m.means)))
	}
	if len(parts) == 0 {
		return ""
	}
	return in.Text("help.codes", "codes", in.JoinAll("join.semicolon", parts...))
}
