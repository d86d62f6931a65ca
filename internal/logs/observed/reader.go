package observed

import (
	"io"

	"github.com/tarelab/tare/internal/logs/format"
)

// Read reads one file: the runs in it, and what is doubtful. Some look at the name.
type Read func(name string, text io.Reader) ([]*Run, []format.Warning, error)

// Reader is what the folder of a tool declares, once: how its output is told, which
// versions are known, and what reads each kind of it.
type Reader struct {
	*format.Tool
	Versions string // for people: "9.3 to 18"
	Kinds    []Kind
}

// Kind is one kind of output, by the name that --kind has for it.
type Kind struct {
	Name format.Kind
	Read Read
	// Whole names the run that a file is a part of, where every thread or job of a run
	// writes a file; empty for other files. files are all of the arm. nil: never.
	Whole func(path string, files []string) string
}
