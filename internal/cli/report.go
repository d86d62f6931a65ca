package cli

import (
	"errors"
	"os"

	"github.com/tarelab/tare/internal/analysis"
	"github.com/tarelab/tare/internal/hint"
	"github.com/tarelab/tare/record"
)

type reportCommand struct {
	Dir    string `arg:"" help:"A result directory, as tare run -o made it."`
	Format format `group:"output" default:"text" placeholder:"FORM" help:"Form of the report on standard output: text, json, jsonl, markdown, csv, openmetrics or bencher."`
}

func (reportCommand) Help() string {
	return "The report is computed anew from the record; the directory is not changed. A run that was killed has a record too.\n\n" +
		"Examples:\n\n  tare report r\n  tare report r --format markdown > comment.md\n  tare report r --format json | jq '.effects[] | select(.verdict == \"cost\")'"
}

func (r reportCommand) Run(c *console) error {
	effects, err := analyse(r.Dir)
	if err != nil {
		return err
	}
	return c.print(r.Format, effects)
}

func analyse(dir string) (*record.Effects, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, &usageError{err, ""}
	}
	result, err := record.Read(dir)
	switch {
	case errors.Is(err, record.ErrNoRecord):
		return nil, &usageError{hint.New(err, "name a directory that tare run made (-o DIR)"), ""}
	case errors.Is(err, os.ErrNotExist), errors.Is(err, os.ErrPermission):
		return nil, &usageError{err, ""}
	case err != nil:
		return nil, err
	}
	return analysis.Analyse(result)
}
