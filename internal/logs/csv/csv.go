// Package csv reads tables of figures whose first row names the columns, as CSV and in Markdown. It reads a table only
// if known.txt or the user says what each column is. Parse splits a text into rows; figureOf and roleOf read headings;
// Columns.Import makes runs of the rows.
package csv

import (
	"bytes"
	"io"
	"slices"

	"github.com/tarelab/tare/internal/logs/format"
)

// Table describes a table without its rows.
type Table struct {
	Separator string   `json:"separator"`
	Columns   []Column `json:"columns"`
	Rows      int      `json:"rows"`
	// Tables is the number of the table on a page, from 1; 0: the file is one table.
	Tables   int              `json:"tables,omitempty"`
	Warnings []format.Warning `json:"warnings,omitempty"`
	numbers  format.Warnings
}

// Index finds a column by its name without the unit, in any case; -1: none.
func (t *Table) Index(name string) int {
	return slices.IndexFunc(t.Columns, func(c Column) bool {
		parts := partsOf(folded(c.Name))
		return len(parts) > 0 && parts[0] == name
	})
}

// Number reads a field of a row in base units, whatever the other rows have; missing for other text.
func (t *Table) Number(row Row, column int) format.Num {
	n := numbers{Warnings: &t.numbers, line: row.Line}
	return n.figure(row.Text[column], &t.Columns[column])
}

// Column is a column by its heading.
type Column struct {
	Name string `json:"name"` // the heading
	// Unit of the converted numbers: "s", "B", "B/s", "1/s" or "ratio". Empty: the heading has no
	// known unit, and numbers are as printed.
	Unit  string `json:"unit,omitempty"`
	scale float64
}

// Row is one row. Text is valid until the next one.
type Row struct {
	Line int
	Text []string // of every column, without quotation marks
}

type parser struct {
	format.Scan
	table Table
	page  *page // nil: the file is one table
	sep   byte
	row   Row
	each  func(*Table, Row) error
}

// Parse reads tables and calls each with every row, until each returns an error. A row with more or fewer
// fields than columns is an error.
func Parse(r io.Reader, each func(*Table, Row) error) (*Table, error) {
	p := &parser{each: each}
	text, isPage := pageOf(r)
	p.Scan = format.NewScan(text, nil)
	line := p.line
	if isPage {
		p.page, p.table.Separator, p.sep = &page{}, "|", '|'
		line = p.pageLine
	}
	err := p.Each(line)
	p.table.Warnings = append(p.Doubts(), p.table.numbers.List()...)
	switch {
	case err != nil || p.table.Rows > 0:
	case p.table.Columns == nil && isPage:
		err = &format.Error{Line: 1, Text: noRowOnPage}
	case p.table.Columns == nil:
		err = p.Nothing(output)
	default:
		err = &format.Error{Line: 1, Text: noRow}
	}
	return &p.table, err
}

func (p *parser) line(line []byte) error {
	switch {
	case len(bytes.TrimSpace(line)) == 0:
		return nil
	case p.table.Columns == nil:
		return p.head(line)
	case p.Torn() && !p.wholeRow(line):
		p.Doubt(shortRow, fileCut)
		return nil
	}
	if err := p.fields(line); err != nil {
		return err
	}
	return p.callEach()
}

// callEach counts the row and calls each.
func (p *parser) callEach() error {
	p.table.Rows++
	if p.each == nil {
		return nil
	}
	return p.each(&p.table, p.row)
}

// wholeRow reports whether a row without a line end has all fields. It warns about a number at the end, which
// may lack digits.
func (p *parser) wholeRow(line []byte) bool {
	f, err := p.split(line)
	if err != nil || len(f) != len(p.table.Columns) {
		return false
	}
	if format.Whole([]byte(f[len(f)-1])).Known() {
		p.Add(p.Number(), lastNumber, checkIt)
	}
	return true
}

// head reads the names of the columns. The separator is the one that gives the most columns.
func (p *parser) head(line []byte) error {
	for _, sep := range []byte(",;\t|") {
		p.sep = sep
		f, err := p.split(line)
		if err == nil && len(f) > len(p.table.Columns) {
			p.table.Separator, p.table.Columns = string(sep), columns(f)
		}
	}
	if p.table.Columns == nil {
		return &format.Error{Line: p.Number(), Text: openHeading}
	}
	p.sep = p.table.Separator[0]
	return p.named()
}

// named refuses a heading with a number.
func (p *parser) named() error {
	for _, c := range p.table.Columns {
		if format.Whole([]byte(c.Name)).Known() {
			return &format.Error{Line: p.Number(), Text: numberAsName(c.Name), Remedy: nameColumns}
		}
	}
	return nil
}

// fields splits a line into a row.
func (p *parser) fields(line []byte) error {
	n := p.Number()
	f, err := p.split(line)
	if err != nil {
		return err
	}
	if len(f) != len(p.table.Columns) {
		e := &format.Error{Line: n, Text: unequalRow(len(f), len(p.table.Columns))}
		if _, commas := format.Commas(line); commas && p.sep == ',' {
			e.Remedy = decimalCommas
		}
		return e
	}
	p.row.Line, p.row.Text = n, f
	return nil
}

// split splits a line at separators outside of quotation marks. (encoding/csv allows line ends in a quoted
// field: an open quotation mark would swallow the rest of the file.)
func (p *parser) split(line []byte) (out []string, err error) {
	for i := 0; ; i++ {
		start := i
		var field []byte
		if i < len(line) && line[i] == '"' {
			n := closing(line[i+1:])
			if n < 0 {
				return nil, &format.Error{Line: p.Number(), Column: start + 1, Text: openField}
			}
			field = bytes.ReplaceAll(line[i+1:i+1+n], []byte(`""`), []byte(`"`))
			i += n + 2
		}
		end := bytes.IndexByte(line[i:], p.sep)
		if end < 0 {
			end = len(line) - i
		}
		out = append(out, clean(append(field, bytes.TrimSpace(line[i:i+end])...)))
		if i += end; i >= len(line) {
			return out, nil
		}
	}
}

// closing returns the index of the quotation mark that closes a field; -1: none.
func closing(b []byte) int {
	for i := 0; i < len(b); i++ {
		if b[i] == '"' {
			if i+1 == len(b) || b[i+1] != '"' {
				return i
			}
			i++
		}
	}
	return -1
}

func clean(b []byte) string { return string(bytes.ToValidUTF8(bytes.TrimSpace(b), []byte("?"))) }

// columns reads the names and units of headings such as "p95 (ms)", "lat (ms,95%)" and "latency_ms_avg".
func columns(names []string) []Column {
	out := make([]Column, len(names))
	for i, name := range names {
		out[i] = column(name)
	}
	return out
}
