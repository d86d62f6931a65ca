package report

import (
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/report/export"
)

// tables prints tables as wide as they fit; names may be cut, numbers and verdicts never. The notes are those of the block.
func (r *textRenderer) tables(all []table, notes []sentence) (stacked bool) {
	for i, t := range all {
		if i > 0 {
			r.line("", nil)
		}
		parts := r.fitting(t)
		for j, part := range parts {
			if j > 0 {
				r.line("", nil)
			}
			r.table(part)
		}
		if len(parts) == 0 {
			stacked, parts = true, []table{t}
			r.stacked(t)
		}
		r.notes(r.in.legend(notes, parts...))
	}
	return stacked
}

// leastAnswer is the least width of an answer that takes several lines.
const leastAnswer = 26

// fitting is a table in a width that fits: with less space, with names that are cut, with fewer columns, with answers in several
// lines, or cut into several. It is empty if none fits: then each row is printed in lines of its own.
func (r *textRenderer) fitting(t table) []table {
	last := 0
	for _, c := range t.columns {
		last = max(last, c.drop)
	}
	for drop := range last + 1 {
		kept := t.dropped(drop)
		for _, way := range []struct{ cut, wrapped bool }{{}, {wrapped: true}, {cut: true}, {cut: true, wrapped: true}} {
			if way.wrapped && drop != min(1, last) && drop != last { // columns of drop 1 go before an answer takes two lines
				continue
			}
			kept.wrapped = way.wrapped
			for _, kept.tight = range []bool{false, true} {
				if kept.total(kept.least(way.cut)) <= r.room() {
					return []table{kept}
				}
			}
		}
	}
	for per := len(t.columns) - 1 - t.panel; t.panel > 0 && per > 0; per -= t.panel {
		parts := t.cut(per)
		if !slices.ContainsFunc(parts, func(t table) bool { return !r.fits(t) }) {
			return parts
		}
	}
	return nil
}

// dropped is a table without the columns that go first.
func (t table) dropped(drop int) table {
	var gone []int
	for i, c := range t.columns {
		if c.drop > 0 && c.drop <= drop {
			gone = append(gone, i)
		}
	}
	return t.without(gone...)
}

// cut is a table in several, each with the first column and so many of the others.
func (t table) cut(per int) (parts []table) {
	for from := 1; from < len(t.columns); from += per {
		var others []int
		for i := 1; i < len(t.columns); i++ {
			if i < from || i >= from+per {
				others = append(others, i)
			}
		}
		parts = append(parts, t.without(others...))
	}
	return parts
}

// without is a table without some of its columns.
func (t table) without(columns ...int) table {
	out := t
	out.columns, out.rows = nil, nil
	for i, c := range t.columns {
		if !slices.Contains(columns, i) {
			out.columns = append(out.columns, c)
		}
	}
	for _, r := range t.rows {
		var kept row
		for i, c := range r {
			if !slices.Contains(columns, i) {
				kept = append(kept, c)
			}
		}
		out.rows = append(out.rows, kept)
	}
	return out
}

// said reports whether a figure has a number or text.
func (f figure) said() bool {
	text := strings.TrimSpace(f.text)
	return text != "" && text != none
}

// filled is a table without the columns that have no figure or text.
func (t table) filled() table {
	var empty []int
	for i := range t.columns {
		if !slices.ContainsFunc(t.rows, func(r row) bool { return r[i].figure().said() }) {
			empty = append(empty, i)
		}
	}
	return t.without(empty...)
}

// fits reports whether a table fits with its names cut.
func (r *textRenderer) fits(t table) bool { return t.total(t.least(true)) <= r.room() }

// least is the least width of each column, with names that are cut or whole.
func (t table) least(cut bool) []int {
	sizes := t.sizes()
	for i, c := range t.columns {
		if cut && c.flex > 0 {
			sizes[i] = min(sizes[i], c.flex)
		}
		if t.wrapped && c.wrap > 0 {
			sizes[i] = min(sizes[i], c.wrap)
		}
	}
	return sizes
}

func (r *textRenderer) room() int { return r.width - len(indent) }

// gap is the space between columns.
func (t table) gap() int {
	if t.tight {
		return 1
	}
	return 2
}

func (t table) total(sizes []int) int {
	n := t.gap() * (len(sizes) - 1)
	for _, s := range sizes {
		n += s
	}
	return n
}

// sizes is the width of each column.
func (t table) sizes() []int {
	sizes := make([]int, len(t.columns))
	for i, c := range t.columns {
		est, rest, end := t.parts(i)
		if sizes[i] = Width(export.Clean(c.head) + string(c.mark)); c.align == interval {
			sizes[i] = max(sizes[i], est+rest+end)
			continue
		}
		for _, row := range t.rows {
			f := row[i].figure()
			f.mark = ""
			sizes[i] = max(sizes[i], Width(export.Clean(f.whole()))+end)
		}
	}
	return sizes
}

// parts is the width of the estimates of a column, of their intervals with the space before them, and of the marks.
func (t table) parts(i int) (est, rest, end int) {
	for _, row := range t.rows {
		f := row[i].figure()
		end = max(end, Width(string(f.mark)))
		if est = max(est, Width(export.Clean(f.text))); f.rest != "" {
			rest = max(rest, Width(export.Clean(f.rest))+1)
		}
	}
	return est, rest, end
}

// shrink gives answers several lines where the table is made for that, and cuts names, of which there are enough when the
// table fits.
func (r *textRenderer) shrink(t table, sizes []int) {
	to := func(i, least int) {
		if over := t.total(sizes) - r.room(); over > 0 && least > 0 && sizes[i] > least {
			sizes[i] = max(least, sizes[i]-over)
		}
	}
	for i, c := range t.columns {
		if t.wrapped {
			to(i, c.wrap)
		}
	}
	for i, c := range t.columns {
		to(i, c.flex)
	}
}

func (r *textRenderer) table(t table) {
	sizes := t.sizes()
	r.shrink(t, sizes)
	head := make(row, len(t.columns))
	for i, c := range t.columns {
		head[i] = cell{c.head + string(c.mark), faint}
	}
	r.row(table{columns: t.columns, tight: t.tight}, head, sizes)
	for _, row := range t.rows {
		r.row(t, row, sizes)
	}
}

func (r *textRenderer) row(t table, cells row, sizes []int) {
	var line sentence
	var more []sentence // lines of a last column of words after its first
	before := 0
	for i, c := range cells {
		if i > 0 {
			line = append(line, cell{strings.Repeat(" ", t.gap()), plain})
			before += sizes[i-1] + t.gap()
		}
		if t.columns[i].wrap > 0 && Width(export.Clean(c.figure().whole())) > sizes[i] {
			lines := wrap(sentence{{export.Clean(c.figure().whole()), c.figure().tone}}, sizes[i])
			line, more = append(line, lines[0]...), lines[1:]
			continue
		}
		s := t.laid(i, c, sizes[i])
		line = append(line, cell{PadRight(s, sizes[i]), c.figure().tone})
	}
	r.line(indent, line)
	for _, l := range more {
		r.line(indent+strings.Repeat(" ", before), l)
	}
}

// laid is what a column of a width prints of an entry; all entries of a column with marks end in a mark or in a space.
func (t table) laid(i int, e entry, size int) string {
	f := e.figure()
	est, _, end := t.parts(i)
	size -= end
	s := export.Clean(f.text)
	if _, word := e.(cell); t.columns[i].align == interval && (!word || f.text == none) {
		s = PadLeft(s, est)
	}
	if f.rest != "" {
		s += " " + export.Clean(f.rest)
	}
	if i == 0 {
		s = clipMiddle(s, size)
	}
	if s = clip(s, size); t.columns[i].align == right {
		s = PadLeft(s, size)
	}
	if end > 0 {
		s += PadRight(string(f.mark), end)
	}
	return s
}

// stacked prints each row in lines of its own: what it is about and the verdict,
// then the numbers with their names. A name that the table has once for several rows stands in each.
func (r *textRenderer) stacked(t table) {
	var name entry
	for _, row := range t.rows {
		if !row[0].figure().said() && name != nil {
			row = slices.Concat([]entry{name}, row[1:])
		}
		name = row[0]
		about, figures := r.parted(t, row)
		for i, l := range wrap(about, r.width-2*len(indent)) {
			r.line(strings.Repeat(indent, min(i, 1)+1), l)
		}
		if len(figures) == 0 {
			continue
		}
		for _, l := range wrap(figures, r.width-2*len(indent)) {
			r.line(indent+indent, l)
		}
	}
}

// parted splits a row into names and verdict, and numbers. Names are the first
// column and those that may be cut; a verdict is a last column of words.
func (r *textRenderer) parted(t table, cells row) (about, figures sentence) {
	last := len(t.columns) - 1
	for i, e := range cells {
		f := e.figure()
		c := cell{strings.TrimSpace(export.Clean(f.whole())), f.tone}
		head := t.columns[i]
		switch {
		case c.text == "" || c.text == none && i > 0 && i == last:
		case i == 0:
			about = append(about, c)
		case i == last && head.align == left:
			about = append(about, cell{r.in.mark("join.colon"), plain}, c)
		case head.flex > 0:
			about = append(about, cell{r.in.mark("join.comma"), plain}, c)
		default:
			if len(figures) > 0 {
				figures = append(figures, cell{r.in.mark("join.comma"), plain})
			}
			figures = append(figures, cell{strings.TrimSpace(head.head), faint}, cell{" ", plain}, c)
		}
	}
	return about, figures
}
