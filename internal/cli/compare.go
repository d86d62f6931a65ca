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
	Before  string        `arg:"" name:"old" help:"A result directory."`
	After   string        `arg:"" name:"new" help:"Another one, of the same experiment."`
	Force   bool          `help:"Compare results of different experiments too: arms of the same name."`
	Format  compareFormat `group:"output" default:"text" placeholder:"text|markdown|json" help:"Output format."`
	Verbose bool          `short:"v" group:"output" help:"Every arm and metric, levels, and all differences of host and settings."`
}

func (compareCommand) Help() string {
	return `One line for each load and arm: its throughput against the baseline in the old result, in the new one, and the change with a 95 % interval from both. Below: what changed in tare, the host, its software and the settings as read back. Levels are compared on the same host only.

Examples:

  tare compare before after
  tare compare before after -v
  tare compare hostA hostB --format markdown`
}

func (compareCommand) exits() []codeMeaning {
	return exitCodes("compared", exitError, exitUsage)
}

func (k *compareCommand) checkFlags() error { return checkVerbose(k.Verbose, format(k.Format)) }

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
	if err := c.printComparison(k, result); err != nil {
		return fmt.Errorf("print the comparison: %w", err)
	}
	return nil
}

func (c *console) printComparison(k compareCommand, x *record.Comparison) error {
	switch k.Format {
	case "markdown":
		return report.PrintMarkdown(c.stdout, c.reports().Comparison(x, true))
	case "json":
		return export.Object(c.stdout, x)
	}
	return report.Print(c.stdout, c.reports().Comparison(x, k.Verbose), c.look(report.Options{}))
}

// compareFormat is the value of --format of tare compare.
type compareFormat string

func (f *compareFormat) UnmarshalText(b []byte) error {
	return oneOf((*string)(f), string(b), f.words()...)
}

func (compareFormat) words() []string { return []string{"text", "markdown", "json"} }
