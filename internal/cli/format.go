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

// forms are the forms of output. A nil print means that the form has more than the effects: text depends on the
// terminal, text and Markdown have the limits of the run, and the command itself prints the HTML page.
var forms = []struct {
	name  format
	print func(io.Writer, *record.Effects) error
}{
	{"text", nil}, {"html", nil}, {"json", export.JSON}, {"markdown", nil},
	{"csv", export.CSV}, {"openmetrics", export.OpenMetrics},
}

func formNames() (names []string) {
	for _, f := range forms {
		names = append(names, string(f.name))
	}
	return names
}

// either joins names for the help: "a, b or c".
func either(names []string) string {
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

func (f *format) UnmarshalText(b []byte) error { return oneOf((*string)(f), string(b), f.words()...) }

func (format) words() []string { return formNames() }

// program says whether a form is for programs: those are printed also when nothing was measured.
func (f format) program() bool { return f != "text" && f != "markdown" }

// print writes the effects to standard output; colour and width of o come from the terminal.
func (c *console) print(f format, e *record.Effects, o report.Options) error {
	print := func(w io.Writer, e *record.Effects) error { return c.reports().Text(w, e, c.look(o)) }
	if f == "markdown" {
		print = func(w io.Writer, e *record.Effects) error { return c.reports().Markdown(w, e, o.Gate) }
	}
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

// look adds the width and colours of standard output to the options.
func (c *console) look(o report.Options) report.Options {
	width, _ := c.size(c.stdout)
	o.Color, o.Width = c.colored(c.stdout), min(width, widest)
	return o
}

// widest is the maximum width of a report, in columns.
const widest = 140
