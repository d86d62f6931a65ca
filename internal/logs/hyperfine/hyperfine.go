// Package hyperfine reads what hyperfine 1.0 to 1.20 exports: JSON with every
// single time, and CSV with the summary of each command.
//
// It must not know what is compared.
package hyperfine

import (
	"io"

	"github.com/tarelab/tare/internal/logs/csv"
	"github.com/tarelab/tare/internal/logs/format"
)

// content is the content of one input.
type content struct {
	Results  []result         `json:"results"`
	Warnings []format.Warning `json:"warnings,omitempty"`
}

// result is one command. Times are in seconds; figures that an export does not have are missing.
type result struct {
	Line    int        `json:"line"` // in JSON, of the document
	Command string     `json:"command"`
	Mean    format.Num `json:"mean,omitzero"`
	// Times of the single runs in order. A time of 0 is missing: hyperfine subtracts the time of
	// the shell, but not below 0.
	Times []format.Num `json:"times,omitempty"`
	// Runs is the number of runs, Failed how many had another exit code than 0; since 1.12.
	Runs   int `json:"runs,omitempty"`
	Failed int `json:"failed,omitempty"`
}

// export is the document that hyperfine writes.
type export struct {
	Results []struct {
		Command   string     `json:"command"`
		Mean      *float64   `json:"mean"`
		Min       *float64   `json:"min"`
		Times     []*float64 `json:"times"`
		ExitCodes []*int     `json:"exit_codes"` // nil: ended by a signal
	} `json:"results"`
}

type parser struct {
	format.Scan
	log content
}

// parse reads JSON documents with any text between them. It returns what it read also with an error. Input
// without a result is an error.
func parse(r io.Reader) (*content, error) {
	p := &parser{Scan: format.NewScan(r, declared)}
	err := p.Each(p.line)
	p.log.Warnings = p.Doubts()
	if err == nil && len(p.log.Results) == 0 {
		err = p.Why()
	}
	return &p.log, err
}

func (p *parser) line(line []byte) error {
	if format.BeginsJSON(line) {
		return p.document()
	}
	if p.Ours(line) {
		p.Doubt(screenText, exportJSON)
	}
	p.Strange(line)
	return nil
}

func (p *parser) document() error {
	var e export
	line, err := p.JSON(&e)
	if line == 0 || err != nil {
		return err
	}
	found := false
	for _, x := range e.Results {
		if x.Command == "" && x.Mean == nil {
			continue
		}
		found = true
		r := result{Line: line, Command: x.Command, Mean: format.Given(x.Mean), Runs: len(x.ExitCodes)}
		zero := format.Given(x.Min).Is(0)
		for _, t := range x.Times {
			zero = zero || t != nil && *t == 0
			r.Times = append(r.Times, format.Given(t).NonZero())
		}
		for _, c := range x.ExitCodes {
			if c == nil || *c != 0 {
				r.Failed++
			}
		}
		p.add(r, zero)
	}
	if !found {
		p.NotOurs(line)
	}
	return nil
}

// add adds a result. zero says that one of its times is 0.
func (p *parser) add(r result, zero bool) {
	if zero || r.Mean.Is(0) {
		p.Once(r.Line, zeroTimes, withoutShell)
	}
	r.Mean = r.Mean.NonZero()
	if r.Failed > 0 {
		p.Once(r.Line, runsFailed, seeExitCodes)
	}
	p.log.Results = append(p.log.Results, r)
}

// parseCSV reads the export of --export-csv, which has a row for each command and no single times.
func parseCSV(r io.Reader) (*content, error) {
	p := &parser{}
	table, err := csv.Parse(r, func(t *csv.Table, row csv.Row) error {
		command, mean, low := t.Index("command"), t.Index("mean"), t.Index("min")
		if command < 0 || mean < 0 {
			return &format.Error{Line: 1, Text: noColumns}
		}
		p.add(result{Line: row.Line, Command: row.Text[command], Mean: t.Number(row, mean)}, low >= 0 && t.Number(row, low).Is(0))
		return nil
	})
	p.log.Warnings = append(table.Warnings, p.List()...)
	return &p.log, err
}
