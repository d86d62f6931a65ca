package observed

import (
	"io"

	"github.com/tarelab/tare/internal/logs/format"
)

// Read reads the runs in a file, with warnings. fio's logs need the name of the file.
type Read func(name string, text io.Reader) ([]*Run, []format.Warning, error)

// Reader is declared by the folder of a tool: how to recognise its output, which versions are known, and
// a function to read each kind of its files.
type Reader struct {
	*format.Tool
	Versions string // for people: "9.3 to 18"
	Kinds    []Kind
}

// Kind is one kind of files.
type Kind struct {
	Name format.Kind // the value of --kind
	Read Read
	// Whole names the run that a file belongs to, if each thread or job of a run writes its own
	// file; empty for other files. files are all files of the arm. nil: a file is never a part.
	Whole func(path string, files []string) string
}
