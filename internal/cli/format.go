package cli

import (
	"fmt"

	"github.com/tarelab/tare/internal/report"
	"github.com/tarelab/tare/record"
)

// format is the value of --format.
type format string

func (f *format) UnmarshalText(b []byte) error {
	return oneOf((*string)(f), string(b), "text", "html", "json", "jsonl", "markdown", "csv", "openmetrics", "bencher")
}

// program says that the form is for programs, which want it even when nothing
// was measured.
func (f format) program() bool { return f != "text" && f != "markdown" }

// print writes the effects to standard output.
func (c *console) print(f format, e *record.Effects) error {
	var err error
	switch f {
	case "json":
		err = report.JSON(c.stdout, e)
	case "markdown":
		err = report.Markdown(c.stdout, e)
	case "jsonl":
		err = report.JSONLines(c.stdout, e)
	case "csv":
		err = report.CSV(c.stdout, e)
	case "openmetrics":
		err = report.OpenMetrics(c.stdout, e)
	case "bencher":
		err = report.Bencher(c.stdout, e)
	default:
		width, _ := c.size(c.stdout)
		err = report.Text(c.stdout, e, report.Options{Color: c.colored(c.stdout), Width: min(width, widest)})
	}
	if err != nil {
		return fmt.Errorf("print the report: %w", err)
	}
	return nil
}

// widest bounds the columns of a report on a very wide terminal.
const widest = 140
