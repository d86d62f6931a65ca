package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/tarelab/tare/internal/report"
	"github.com/tarelab/tare/internal/report/export"
	"github.com/tarelab/tare/record"
)

// format is the value of --format.
type format string

// forms are the forms for programs and pages. Text is a terminal's, and the page
// of a result has more than its effects: these two the commands print themselves.
var forms = []struct {
	name  format
	print func(io.Writer, *record.Effects) error
}{
	{"text", nil}, {"html", nil}, {"json", export.JSON}, {"markdown", report.Markdown},
	{"csv", export.CSV}, {"openmetrics", export.OpenMetrics},
}

func formNames() (names []string) {
	for _, f := range forms {
		names = append(names, string(f.name))
	}
	return names
}

// either is how help names what can be chosen: "a, b or c".
func either(names []string) string {
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

func (f *format) UnmarshalText(b []byte) error {
	return oneOf((*string)(f), string(b), formNames()...)
}

// program says that the form is for programs, which want it even when nothing
// was measured.
func (f format) program() bool { return f != "text" && f != "markdown" }

// print writes the effects to standard output; of the options what the terminal
// does not say itself.
func (c *console) print(f format, e *record.Effects, o report.Options) error {
	print := func(w io.Writer, e *record.Effects) error { return report.Text(w, e, c.look(o)) }
	for _, x := range forms {
		if x.name == f && x.print != nil {
			print = x.print
		}
	}
	err := print(c.stdout, e)
	if err != nil {
		return fmt.Errorf("print the report: %w", err)
	}
	return nil
}

// look adds how wide and how coloured standard output is.
func (c *console) look(o report.Options) report.Options {
	width, _ := c.size(c.stdout)
	o.Color, o.Width = c.colored(c.stdout), min(width, widest)
	return o
}

// widest bounds the columns of a report on a very wide terminal.
const widest = 140
