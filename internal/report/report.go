package report

import (
	"io"

	"github.com/tarelab/tare/record"
)

// Options is how a text report looks.
type Options struct {
	Color   bool   // ANSI colours; the text says the same without
	Width   int    // columns; 0 means 100, below 40 counts as 40
	Verbose bool   // everything, not only the answer
	Dir     string // the result directory, for commands to type; empty: not known
}

const (
	defaultWidth = 100
	leastWidth   = 40
)

func (o Options) width() int {
	if o.Width == 0 {
		return defaultWidth
	}
	return max(o.Width, leastWidth)
}

// Text prints the report for a terminal or a plain file.
func Text(w io.Writer, e *record.Effects, o Options) error {
	r := textRenderer{width: o.width(), color: o.Color}
	if o.Verbose || e.Imported != nil { // of imports nothing is longer than the answer
		r.document(full(e, o.Dir))
	} else {
		r.printSummary(e, o.Dir)
	}
	_, err := io.WriteString(w, r.out.String())
	return err
}

// Print prints a document for a terminal or a plain file.
func Print(w io.Writer, d Document, o Options) error {
	r := textRenderer{width: o.width(), color: o.Color}
	r.document(d)
	_, err := io.WriteString(w, r.out.String())
	return err
}

// PrintMarkdown prints a document for a pull request.
func PrintMarkdown(w io.Writer, d Document) error {
	var r markdownRenderer
	r.document(d)
	_, err := io.WriteString(w, r.out.String())
	return err
}

// Markdown prints the report for a pull request comment: the answer and the
// ladders open, everything else folded.
func Markdown(w io.Writer, e *record.Effects) error {
	return PrintMarkdown(w, full(e, ""))
}
