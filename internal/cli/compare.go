package cli

import (
	"errors"
	"fmt"

	"github.com/tarelab/tare/internal/analysis/compare"
	"github.com/tarelab/tare/internal/report"
	"github.com/tarelab/tare/internal/report/export"
	"github.com/tarelab/tare/record"
)

type compareCommand struct {
	Before string        `arg:"" help:"A result directory."`
	After  string        `arg:"" help:"Another one, of the same experiment."`
	Force  bool          `help:"Compare results of different experiments too: what has the same name in both."`
	Format compareFormat `group:"output" default:"text" placeholder:"text|markdown|json" help:"Form of the comparison on standard output."`
}

func (compareCommand) Help() string {
	return `Says first whether the two may be compared and what differs: tare, host, kernel, versions, settings as read back. Then how the effect of each arm changed, as a ratio of the two ratios with an interval from both. Absolute levels are compared on the same host only.

Examples:

  tare compare before after
  tare compare hostA hostB --format markdown

` + exitCodes("compared", exitError, exitUsage)
}

func (k compareCommand) Run(c *console) error {
	before, err := readResult(resultOf(k.Before))
	if err != nil {
		return err
	}
	after, err := readResult(resultOf(k.After))
	if err != nil {
		return err
	}
	result, err := compare.Results(before, after, k.Force)
	if errors.Is(err, compare.ErrDifferent) || errors.Is(err, compare.ErrSame) {
		return &usageError{err, ""}
	}
	if err != nil {
		return err
	}
	if err := c.printComparison(k.Format, result); err != nil {
		return fmt.Errorf("print the comparison: %w", err)
	}
	return nil
}

func (c *console) printComparison(f compareFormat, x *record.Comparison) error {
	switch f {
	case "markdown":
		return report.PrintMarkdown(c.stdout, report.Comparison(x))
	case "json":
		return export.Object(c.stdout, x)
	}
	return report.Print(c.stdout, report.Comparison(x), c.look(report.Options{}))
}

// compareFormat is the value of --format of tare compare.
type compareFormat string

func (f *compareFormat) UnmarshalText(b []byte) error {
	return oneOf((*string)(f), string(b), "text", "markdown", "json")
}
