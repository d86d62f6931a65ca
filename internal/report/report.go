// Package report prints effects for people and for programs: text for a
// terminal, Markdown for a pull request, JSON and CSV. It works from
// record.Effects alone, so that a report can be printed years later from the
// files. It formats and selects; it must not compute statistics, read the
// machine or look at a record.
//
// Text and Markdown share one document (document.go and the files that build
// its sections); a renderer decides what fits and how a tone looks.
package report

import (
	"io"

	"github.com/tarelab/tare/record"
)

// Options is how a text report looks.
type Options struct {
	Color bool // ANSI colours; the text says the same without
	Width int  // columns; 0 means 100, below 40 counts as 40
}

const (
	defaultWidth = 100
	leastWidth   = 40
	// screen is the number of lines above which the answer is repeated at the
	// end, where a terminal stands when the report has run through.
	screen = 40
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
	doc := build(e)
	r.document(doc)
	if r.lines > screen {
		r.section(section{title: "in short", blocks: []block{doc.short}})
	}
	_, err := io.WriteString(w, r.out.String())
	return err
}

// Markdown prints the report for a pull request comment: the answer and the
// ladders open, everything else folded.
func Markdown(w io.Writer, e *record.Effects) error {
	var r markdownRenderer
	r.document(build(e))
	_, err := io.WriteString(w, r.out.String())
	return err
}
