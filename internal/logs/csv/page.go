package csv

import (
	"bufio"
	"bytes"
	"io"
	"regexp"
	"strings"

	"github.com/tarelab/tare/internal/logs/format"
)

// This file reads pages with Markdown tables: a heading, a rule of dashes and rows, with other text around
// them.

// rule matches the line below a heading: | --- | ---: |.
var rule = regexp.MustCompile(`^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$`)

func isRule(line []byte) bool {
	line = bytes.TrimLeft(line, "> \t") // it may be quoted
	return bytes.IndexByte(line, '|') >= 0 && bytes.IndexByte(line, '-') >= 0 && rule.Match(line)
}

// pageStart is how many bytes are searched for a table.
const pageStart = 64 << 10

// pageOf reports whether the beginning of a text has a Markdown table.
func pageOf(r io.Reader) (io.Reader, bool) {
	t, named := r.(*format.Text)
	if named {
		r = t.Reader
	}
	b := bufio.NewReaderSize(r, pageStart)
	head, _ := b.Peek(pageStart) // reading returns an error again
	is := false
	for line := range bytes.Lines(head) {
		is = is || isRule(bytes.TrimRight(line, "\r\n"))
	}
	if named {
		t.Reader = b
		return t, is
	}
	return b, is
}

// page is the state between the lines of a page.
type page struct {
	before []string // the cells of the line above
	inside bool     // the line above belongs to a table
	tables int      // tables so far
}

// pageLine reads a line of a page.
func (p *parser) pageLine(line []byte) error {
	text := strings.ToValidUTF8(string(bytes.TrimSpace(bytes.TrimLeft(line, "> \t"))), "?")
	cells := cellsOf(text)
	above := p.page.before
	p.page.before = cells
	switch {
	case isRule(line) && len(above) > 1 && len(above) == len(cells):
		return p.begin(above)
	case !p.page.inside && len(cells) > 1:
		return nil // perhaps the heading of the next table
	case !p.page.inside || len(cells) < 2:
		p.page.inside = false
		p.Aside(p.Number(), text)
		return nil
	case len(cells) > len(p.table.Columns):
		return &format.Error{Line: p.Number(), Text: unequalRow(len(cells), len(p.table.Columns))}
	}
	for len(cells) < len(p.table.Columns) {
		cells = append(cells, "")
	}
	p.row.Line, p.row.Text = p.Number(), cells
	return p.callEach()
}

// mostTables bounds the tables of a page.
const mostTables = 1000

// begin begins a table.
func (p *parser) begin(heading []string) error {
	if p.page.tables++; p.page.tables > mostTables {
		return &format.Error{Line: p.Number(), Text: manyTables(mostTables), Remedy: splitThePage}
	}
	p.page.inside = true
	p.table.Columns = columns(heading)
	p.table.Tables = p.page.tables
	return p.named()
}

// cellsOf returns the cells of a row without markup. A line that is no row is one cell.
func cellsOf(line string) (out []string) {
	line = strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|")
	cell := strings.Builder{}
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '\\' && i+1 < len(line) && line[i+1] == '|':
			i++
			cell.WriteByte('|')
		case line[i] == '|':
			out = append(out, plain(cell.String()))
			cell.Reset()
		default:
			cell.WriteByte(line[i])
		}
	}
	return append(out, plain(cell.String()))
}

var (
	link = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
	mark = regexp.MustCompile("\\*\\*|~~|`|</?[a-zA-Z][^<>]{0,40}>")
)

// plain removes links, bold, code and tags from a cell.
func plain(cell string) string {
	cell = mark.ReplaceAllString(link.ReplaceAllString(cell, "$1"), "")
	cell = strings.TrimSpace(strings.NewReplacer("&nbsp;", " ", "\u00a0", " ", "&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(cell))
	for _, m := range []string{"*", "_"} {
		if len(cell) > 2 && strings.HasPrefix(cell, m) && strings.HasSuffix(cell, m) {
			cell = strings.TrimSpace(cell[1 : len(cell)-1])
		}
	}
	return cell
}
