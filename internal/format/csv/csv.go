// Package csv reads tables of figures whose first row names the columns, as
// tools export them and people collect them. A unit in the name of a column,
// "p95 (ms)", makes its numbers base units.
//
// It must not know what a column is for.
package csv

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/tarelab/tare/internal/format"
)

// Table is what one input is, without its rows.
type Table struct {
	Separator string           `json:"separator"`
	Columns   []Column         `json:"columns"`
	Rows      int              `json:"rows"`
	Warnings  []format.Warning `json:"warnings,omitempty"`
}

// Column is a column by its heading.
type Column struct {
	Name string `json:"name"` // without the unit
	// Unit of the numbers handed out: "s", "B", "B/s", "1/s", "ratio", or empty
	// where the heading has none that is known; then numbers are as they stand.
	Unit  string `json:"unit,omitempty"`
	scale float64
}

// Row is one row. The slices are valid until the next one.
type Row struct {
	Line int
	Text []string // of every column, without quotation marks
	// Number of every column in base units; missing where the text is none.
	Number []format.Num
}

// Index is the column of that name, in any case; -1 if there is none.
func (t *Table) Index(name string) int {
	for i, c := range t.Columns {
		if strings.EqualFold(c.Name, name) {
			return i
		}
	}
	return -1
}

type parser struct {
	lines *format.Lines
	table Table
	sep   byte
	row   Row
	warn  format.Warnings
	// commas is how often a number had a decimal comma.
}

// Parse reads everything in r and hands every row out. An error of each ends
// the reading and is returned. A row with more or fewer fields than there are
// columns is an error: nobody can say which figure is which.
func Parse(r io.Reader, each func(*Table, Row) error) (*Table, error) {
	p := &parser{lines: format.NewLines(r)}
	err := p.all(each)
	if err == nil {
		err = p.lines.Err()
	}
	p.table.Warnings = p.lines.Doubts(&p.warn)
	if err == nil && p.table.Rows == 0 {
		err = p.nothing()
	}
	return &p.table, err
}

func (p *parser) nothing() error {
	if p.table.Columns == nil {
		return format.Nothing("a table", p.lines.Number(), "", 0)
	}
	return &format.Error{Line: 1, Text: "the table has a heading and no row"}
}

func (p *parser) all(each func(*Table, Row) error) error {
	for p.lines.Next() {
		line := p.lines.Bytes()
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if p.table.Columns == nil {
			if err := p.head(line); err != nil {
				return err
			}
			continue
		}
		if p.lines.Torn() && !p.wholeRow(line) {
			p.warn.Add(p.lines.Number(), "the last row has no end and fewer fields than columns; it was left out", "the file is cut")
			return nil
		}
		if err := p.fields(line); err != nil {
			return err
		}
		p.table.Rows++
		if each != nil {
			if err := each(&p.table, p.row); err != nil {
				return err
			}
		}
	}
	return nil
}

// wholeRow says whether a row without a line end has all its fields. A number
// at its very end may still have lost digits.
func (p *parser) wholeRow(line []byte) bool {
	f, err := p.split(line)
	if err != nil || len(f) != len(p.table.Columns) {
		return false
	}
	if format.Whole([]byte(f[len(f)-1])).Known() {
		p.warn.Add(p.lines.Number(), "the last row has no line end: if the file is cut, its last number has lost digits", "check it")
	}
	return true
}

// head reads the names of the columns and finds the separator: the one that
// gives the most of them.
func (p *parser) head(line []byte) error {
	for _, sep := range []byte(",;\t|") {
		p.sep = sep
		f, err := p.split(line)
		if err == nil && len(f) > len(p.table.Columns) {
			p.table.Separator, p.table.Columns = string(sep), columns(f)
		}
	}
	if p.table.Columns == nil {
		return &format.Error{Line: p.lines.Number(), Text: "the heading has an open quotation mark"}
	}
	p.sep = p.table.Separator[0]
	for _, c := range p.table.Columns {
		if format.Whole([]byte(c.Name)).Known() {
			return &format.Error{Line: p.lines.Number(), Text: fmt.Sprintf("the first row does not name the columns: %q is a number", c.Name),
				Remedy: "put a row with the names of the columns above the figures"}
		}
	}
	p.row.Number = make([]format.Num, len(p.table.Columns))
	return nil
}

// fields splits a row and reads its numbers.
func (p *parser) fields(line []byte) error {
	n := p.lines.Number()
	f, err := p.split(line)
	if err != nil {
		return err
	}
	if len(f) != len(p.table.Columns) {
		e := &format.Error{Line: n, Text: fmt.Sprintf("the row has %d fields, the heading %d", len(f), len(p.table.Columns))}
		if _, commas := format.Commas(line); commas && p.sep == ',' {
			e.Remedy = "if the numbers have decimal commas, write points or separate the columns by semicolons"
		}
		return e
	}
	p.row.Line, p.row.Text = n, f
	for i, s := range f {
		p.row.Number[i] = p.number(s).Times(p.table.Columns[i].scale)
	}
	return nil
}

// number reads a field. A decimal comma is taken for a point, with a warning,
// unless it could be a thousands separator: then the number is missing.
func (p *parser) number(s string) format.Num {
	s = strings.TrimSuffix(strings.TrimSpace(s), "%")
	if x := format.Whole([]byte(s)); x.Known() || strings.Count(s, ",") != 1 {
		return x
	}
	whole, fraction, _ := strings.Cut(s, ",")
	x := format.Whole([]byte(whole + "." + fraction))
	if !x.Known() {
		return x
	}
	if len(fraction) == 3 && strings.TrimLeft(whole, "-0") != "" {
		p.warn.Once(p.lines.Number(), fmt.Sprintf("%q can be a decimal comma or a thousands separator; such numbers are missing", s), "write a point, or no separator")
		return format.Num{}
	}
	p.warn.Once(p.lines.Number(), "numbers with a decimal comma were read as if it were a point", "check that they are not thousands separators")
	return x
}

// split cuts a line at the separators outside of quotation marks.
func (p *parser) split(line []byte) ([]string, error) {
	var out []string
	for i := 0; ; i++ {
		field, next, ok := one(line, i, p.sep)
		if !ok {
			return nil, &format.Error{Line: p.lines.Number(), Column: i + 1, Text: "a quotation mark is open at the end of the line"}
		}
		out = append(out, field)
		if i = next; i >= len(line) {
			return out, nil
		}
	}
}

// one reads the field at i and returns where it ends.
func one(line []byte, i int, sep byte) (field string, next int, ok bool) {
	if i < len(line) && line[i] == '"' {
		return quoted(line, i+1, sep)
	}
	end := bytes.IndexByte(line[min(i, len(line)):], sep)
	if end < 0 {
		end = len(line) - min(i, len(line))
	}
	i = min(i, len(line))
	return clean(line[i : i+end]), i + end, true
}

func quoted(line []byte, i int, sep byte) (string, int, bool) {
	var b []byte
	for ; i < len(line); i++ {
		if line[i] != '"' {
			b = append(b, line[i])
			continue
		}
		if i+1 < len(line) && line[i+1] == '"' {
			b = append(b, '"')
			i++
			continue
		}
		rest := bytes.IndexByte(line[i+1:], sep)
		if rest < 0 {
			rest = len(line) - i - 1
		}
		return clean(append(b, bytes.TrimSpace(line[i+1:i+1+rest])...)), i + 1 + rest, true
	}
	return "", i, false
}

func clean(b []byte) string { return string(bytes.ToValidUTF8(bytes.TrimSpace(b), []byte("?"))) }
