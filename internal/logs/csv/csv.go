// Package csv reads tables of figures whose first row names the columns, as CSV and in Markdown. It converts
// numbers to base units if the column's name has a unit: "p95 (ms)". Parse knows only columns; Import knows
// which metric a column is.
package csv

import (
	"bytes"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/base/units"
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
}

// Column is a column by its heading.
type Column struct {
	Name string `json:"name"` // without the unit
	// Unit of the converted numbers: "s", "B", "B/s", "1/s" or "ratio". Empty: the heading has no
	// known unit, and numbers are as printed.
	Unit  string `json:"unit,omitempty"`
	scale float64
}

// Row is one row. The slices are valid until the next one.
type Row struct {
	Line int
	Text []string // of every column, without quotation marks
	// Number of every column in base units; missing for other text.
	Number []format.Num
}

// Index finds a column by name, in any case; -1: none.
func (t *Table) Index(name string) int {
	for i, c := range t.Columns {
		if strings.EqualFold(c.Name, name) {
			return i
		}
	}
	return -1
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
	p.table.Warnings = p.Doubts()
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

// named refuses a heading with a number, and allocates the row.
func (p *parser) named() error {
	for _, c := range p.table.Columns {
		if format.Whole([]byte(c.Name)).Known() {
			return &format.Error{Line: p.Number(), Text: numberAsName(c.Name), Remedy: nameColumns}
		}
	}
	p.row.Number = make([]format.Num, len(p.table.Columns))
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
	p.setRow(f)
	return nil
}

// setRow sets the row to these fields and reads their numbers.
func (p *parser) setRow(f []string) {
	p.row.Line, p.row.Text = p.Number(), f
	commas := slices.ContainsFunc(f, decimalComma.MatchString)
	for i, s := range f {
		p.row.Number[i] = p.figure(s, &p.table.Columns[i], commas)
	}
}

// measured matches a number with k, M, a unit, a range or a remark in brackets behind it.
var measured = regexp.MustCompile(`^[~≈]?\s*([-+]?\d[\d.,]*)\s*([kKM]?)\s*([A-Za-zµμ%/]*)\s*(?:(?:±|\+/-|\+-|\().*)?$`)

// figure converts a field to base units, from its own unit if it has one, else from the heading's.
func (p *parser) figure(s string, c *Column, commas bool) format.Num {
	if x := p.number(s, commas); x.Known() {
		return x.Times(c.scale)
	}
	m := measured.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		return format.Num{}
	}
	scale := c.scale
	switch u, known := units.OfHeading(m[2] + m[3]); {
	case m[2]+m[3] == "":
	case known && (c.Unit == "" || c.Unit == u.Base): // 523 MB/s, 20 ms
		scale = u.Scale
	case m[3] == "" || rate(m[3]):
		scale *= map[string]float64{"": 1, "k": 1e3, "K": 1e3, "M": 1e6}[m[2]]
	default:
		return format.Num{}
	}
	return p.number(m[1], commas).Times(scale)
}

// rate reports whether a unit is a rate per second.
func rate(unit string) bool {
	u, _ := units.OfHeading(unit)
	return u.Base == "1/s"
}

// thousands matches numbers with separators between thousands and another decimal sign: 1.234,5 and
// 1,234.5.
var thousands = regexp.MustCompile(`^-?\d{1,3}(?:(?:\.\d{3})+,\d+|(?:,\d{3})+\.\d+)$`)

// number reads a field. A decimal comma is read as a point, with a warning; if it could be a thousands
// separator, the number is missing. commas says that the row has decimal commas: then a point before three
// digits could be a thousands separator too.
func (p *parser) number(s string, commas bool) format.Num {
	s = strings.TrimSuffix(strings.TrimSpace(s), "%")
	if thousands.MatchString(s) {
		p.Doubt(thousandsRead, checkThem)
		last := strings.LastIndexAny(s, ".,")
		return format.Whole([]byte(strings.NewReplacer(".", "", ",", "").Replace(s[:last]) + "." + s[last+1:]))
	}
	whole, fraction, cut := strings.Cut(s, ",")
	if !cut && commas {
		whole, fraction, cut = strings.Cut(s, ".")
		cut = cut && len(fraction) == 3
	}
	x := format.Whole([]byte(s))
	if !cut || !x.Known() && strings.Count(s, ",") != 1 {
		return x
	}
	if x = format.Whole([]byte(whole + "." + fraction)); !x.Known() {
		return x
	}
	if len(fraction) == 3 && strings.TrimLeft(whole, "-0") != "" {
		p.Doubt(ambiguousComma(s), writePoint)
		return format.Num{}
	}
	p.Comma()
	return x
}

// decimalComma matches a number whose comma can only be a decimal sign.
var decimalComma = regexp.MustCompile(`^-?\d[\d.]*,(?:\d{1,2}|\d{4,})$`)

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
