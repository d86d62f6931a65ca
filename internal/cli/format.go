package cli

import (
	"fmt"

	"github.com/tarelab/tare/internal/report"
	"github.com/tarelab/tare/record"
)

// format is the value of --format.
type format string

func (f *format) UnmarshalText(b []byte) error {
	return oneOf((*string)(f), string(b), "text", "json", "markdown", "csv")
}

// print writes the effects to standard output.
func (c *console) print(f format, e *record.Effects) error {
	var err error
	switch f {
	case "json":
		err = report.JSON(c.stdout, e)
	case "markdown":
		err = report.Markdown(c.stdout, e)
	case "csv":
		err = report.CSV(c.stdout, e)
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
