// Package hyperfine reads what hyperfine 1.0 to 1.20 exports: JSON with every
// single time, and CSV with the summary of each command.
//
// It must not know what is compared.
package hyperfine

import (
	"errors"
	"io"
	"strings"

	"github.com/tarelab/tare/internal/format"
	"github.com/tarelab/tare/internal/format/csv"
)

// Log is what one input holds.
type Log struct {
	Results  []Result         `json:"results"`
	Warnings []format.Warning `json:"warnings,omitempty"`
}

// Result is one command. All times are in seconds; what an export does not
// have is missing.
type Result struct {
	Line    int        `json:"line"` // in JSON, of the document
	Command string     `json:"command"`
	Mean    format.Num `json:"mean,omitzero"`
	StdDev  format.Num `json:"stddev,omitzero"` // missing with one run
	Median  format.Num `json:"median,omitzero"` // since 1.6
	User    format.Num `json:"user,omitzero"`   // mean CPU time
	System  format.Num `json:"system,omitzero"` // mean CPU time
	Min     format.Num `json:"min,omitzero"`
	Max     format.Num `json:"max,omitzero"`
	// Times of the single runs in order. One that hyperfine gives as 0 is
	// missing: it subtracts the time of the shell and stops at 0.
	Times []format.Num `json:"times,omitempty"`
	// Memory is the largest resident set of the single runs in bytes, since 1.19.
	Memory []format.Num `json:"memory,omitempty"`
	// ExitCodes of the single runs, missing where a signal ended it. Since 1.12.
	ExitCodes  []format.Num      `json:"exit_codes,omitempty"`
	Parameters map[string]string `json:"parameters,omitempty"`
}

// Failed counts the runs that did not end with 0.
func (r *Result) Failed() int {
	n := 0
	for _, c := range r.ExitCodes {
		if !c.Is(0) {
			n++
		}
	}
	return n
}

type parser struct {
	lines   *format.Lines
	log     Log
	warn    format.Warnings
	foreign format.Foreign
}

// Parse reads the JSON documents in r, one behind the other and with anything
// between them. What was read is returned also with an error. Input without a
// result is an error.
func Parse(r io.Reader) (*Log, error) {
	p := &parser{lines: format.NewLines(r), foreign: format.Foreign{Own: format.Hyperfine}}
	err := p.all()
	if err == nil {
		err = p.lines.Err()
	}
	p.log.Warnings = p.lines.Doubts(&p.warn)
	if err == nil && len(p.log.Results) == 0 {
		err = p.nothing()
	}
	return &p.log, err
}

func (p *parser) nothing() error {
	for _, w := range p.log.Warnings {
		if w.Line > 0 && p.foreign.First == "" {
			return &format.Error{Line: w.Line, Text: w.Text, Remedy: w.Remedy}
		}
	}
	return format.Nothing("hyperfine", p.lines.Number(), p.foreign.First, p.foreign.Line)
}

func (p *parser) all() error {
	for p.lines.Next() {
		line := p.lines.Bytes()
		if !format.Begins(line) {
			if format.ToolOf(line) == format.Hyperfine {
				p.warn.Once(p.lines.Number(), "this is what hyperfine shows on the screen; it was left out", "export the figures: hyperfine --export-json FILE")
			}
			p.foreign.Look(line, p.lines.Number(), &p.warn)
			continue
		}
		if err := p.document(); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) document() error {
	d, err := p.lines.Document()
	if err != nil {
		return err
	}
	found := false
	err = d.Walk(func(j *format.JSON, key []byte) error {
		if string(key) != "results" {
			return nil
		}
		return j.Array(func() error {
			r := Result{Line: d.Line}
			err := j.Object(func(key []byte) error { return r.member(j, string(key)) })
			if err != nil || r.Command == "" && !r.Mean.Known() {
				return err
			}
			found = true
			p.add(r)
			return nil
		})
	})
	var wrong *format.Error
	switch {
	case errors.As(err, &wrong):
		p.warn.Add(wrong.Line, wrong.Text, wrong.Remedy)
		return nil
	case err == nil && !found:
		p.warn.Once(d.Line, "JSON that is not hyperfine's was left out", "")
	}
	return err
}

func (r *Result) member(j *format.JSON, key string) (err error) {
	switch key {
	case "command":
		r.Command = j.Text()
	case "mean":
		r.Mean, err = j.Num()
	case "stddev":
		r.StdDev, err = j.Num()
	case "median":
		r.Median, err = j.Num()
	case "user":
		r.User, err = j.Num()
	case "system":
		r.System, err = j.Num()
	case "min":
		r.Min, err = j.Num()
	case "max":
		r.Max, err = j.Num()
	case "times":
		r.Times, err = numbers(j)
	case "memory_usage_byte":
		r.Memory, err = numbers(j)
	case "exit_codes":
		r.ExitCodes, err = numbers(j)
	case "parameter": // before 1.11, the only one and without a name
		r.Parameters = map[string]string{"": j.Text()}
	case "parameters":
		r.Parameters = map[string]string{}
		err = j.Object(func(key []byte) error {
			r.Parameters[strings.ToValidUTF8(string(key), "?")] = j.Text()
			return nil
		})
	}
	return err
}

func numbers(j *format.JSON) ([]format.Num, error) {
	var out []format.Num
	err := j.Array(func() error {
		n, err := j.Num()
		out = append(out, n)
		return err
	})
	return out, err
}

// add takes a result; a time of 0 is none.
func (p *parser) add(r Result) {
	zero := r.Min.Is(0) || r.Mean.Is(0)
	for i, t := range r.Times {
		zero = zero || t.Is(0)
		r.Times[i] = t.Positive()
	}
	if zero {
		p.warn.Once(r.Line, "times of 0: the command is shorter than the time of the shell that hyperfine subtracts",
			"repeat with --shell=none (-N); such times are missing here")
	}
	r.Min, r.Mean, r.Median, r.Max = r.Min.Positive(), r.Mean.Positive(), r.Median.Positive(), r.Max.Positive()
	if r.Failed() > 0 {
		p.warn.Once(r.Line, "runs of a command ended with an error", "see its exit codes")
	}
	p.log.Results = append(p.log.Results, r)
}

// ParseCSV reads the export --export-csv: a row per command, no single times.
func ParseCSV(r io.Reader) (*Log, error) {
	p := &parser{}
	table, err := csv.Parse(r, func(t *csv.Table, row csv.Row) error {
		if t.Index("command") < 0 || t.Index("mean") < 0 {
			return &format.Error{Line: 1, Text: "the columns command and mean of hyperfine are not there"}
		}
		p.add(result(t, row))
		return nil
	})
	p.log.Warnings = append(table.Warnings, p.warn.List()...)
	return &p.log, err
}

func result(t *csv.Table, row csv.Row) Result {
	out := Result{Line: row.Line}
	for i, c := range t.Columns {
		x := row.Number[i]
		switch c.Name {
		case "command":
			out.Command = row.Text[i]
		case "mean":
			out.Mean = x
		case "stddev":
			out.StdDev = x.Positive() // one run has none and 0 is written
		case "median":
			out.Median = x
		case "user":
			out.User = x
		case "system":
			out.System = x
		case "min":
			out.Min = x
		case "max":
			out.Max = x
		default:
			if name, ok := strings.CutPrefix(c.Name, "parameter_"); ok {
				if out.Parameters == nil {
					out.Parameters = map[string]string{}
				}
				out.Parameters[name] = row.Text[i]
			}
		}
	}
	return out
}
