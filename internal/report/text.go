package report

import (
	"slices"
	"strings"
)

// textRenderer prints a document for a terminal of a given width.
type textRenderer struct {
	out   strings.Builder
	lines int
	width int
	color bool
}

const (
	indent = "  "
	gap    = 2 // between labels and texts
)

func (r *textRenderer) document(d document) {
	for _, line := range wrap(d.title, r.width) {
		r.line("", line)
	}
	for _, s := range d.sections {
		r.section(s)
	}
}

func (r *textRenderer) section(s section) {
	r.line("", nil)
	if s.title != "" {
		r.heading(s)
	}
	for i, b := range s.blocks {
		if i > 0 {
			r.line("", nil)
		}
		r.block(b)
	}
}

// heading is a light rule with the title in it.
func (r *textRenderer) heading(s section) {
	name := clip(clean(s.title), r.width-6)
	h := sentence{{"── ", faint}, {name, strong}, {" ", plain}}
	left := r.width - width(name) - 4
	if about := clip(clean(s.about), left-6); about != "" {
		h = append(h, cell{"── ", faint}, cell{about + " ", plain})
		left -= width(about) + 4
	}
	r.line("", append(h, cell{strings.Repeat("─", max(0, left)), faint}))
}

func (r *textRenderer) block(b block) {
	if b.title != "" {
		for _, l := range wrap(sentence{{b.title, faint}}, r.width-len(indent)) {
			r.line(indent, l)
		}
	}
	r.items(b.items)
	for i, t := range r.fitting(b.forms) {
		if i > 0 {
			r.line("", nil)
		}
		r.table(t)
	}
	for _, n := range b.notes {
		for i, l := range wrap(n, r.width-2*len(indent)) {
			if i == 0 {
				r.line(indent, l)
			} else {
				r.line(indent+indent, l)
			}
		}
	}
}

// items prints labels in a column of their own.
func (r *textRenderer) items(items []item) {
	labels := 0
	for _, it := range items {
		labels = max(labels, width(clean(it.label.text)))
	}
	labels = min(labels, r.width/3)
	for i, it := range items {
		label := clip(clean(it.label.text), labels)
		if i > 0 && it.label == items[i-1].label && !it.mark() {
			label = ""
		}
		hang := 0
		if it.label.text != "" {
			hang = labels + gap
		}
		for j, l := range wrap(it.text, r.width-len(indent)-hang) {
			head := sentence{{strings.Repeat(" ", hang), plain}}
			if j == 0 && hang > 0 {
				head = sentence{{label, it.label.tone}, {strings.Repeat(" ", hang-width(label)), plain}}
			}
			r.line(indent, append(head, l...))
		}
	}
}

// fitting is the first form that fits; the last one is cut to fit.
func (r *textRenderer) fitting(forms [][]table) []table {
	for _, form := range forms {
		if !slices.ContainsFunc(form, func(t table) bool { return !r.fits(t) }) {
			return form
		}
	}
	if len(forms) == 0 {
		return nil
	}
	return forms[len(forms)-1]
}

func (r *textRenderer) fits(t table) bool {
	sizes := t.sizes()
	for i, c := range t.columns {
		if c.flex > 0 {
			sizes[i] = min(sizes[i], c.flex)
		}
	}
	return t.total(sizes) <= r.room()
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
		sizes[i] = width(clean(c.head))
		est, rest := t.parts(i)
		if c.align == interval {
			sizes[i] = max(sizes[i], est+rest)
			continue
		}
		for _, row := range t.rows {
			sizes[i] = max(sizes[i], width(clean(row[i].text)))
		}
	}
	return sizes
}

// parts is the width of the estimates and of the rest of an interval column,
// the space between them included.
func (t table) parts(i int) (est, rest int) {
	for _, row := range t.rows {
		a, b := split(clean(row[i].text))
		est = max(est, width(a))
		if b != "" {
			rest = max(rest, width(b)+1)
		}
	}
	return est, rest
}

// shrink cuts the flexible columns first, then whichever is widest.
func (r *textRenderer) shrink(t table, sizes []int) {
	for i, c := range t.columns {
		if over := t.total(sizes) - r.room(); over > 0 && c.flex > 0 && sizes[i] > c.flex {
			sizes[i] = max(c.flex, sizes[i]-over)
		}
	}
	for t.total(sizes) > r.room() {
		widest := 0
		for i := range sizes {
			if sizes[i] > sizes[widest] {
				widest = i
			}
		}
		if sizes[widest] <= 1 {
			return
		}
		sizes[widest]--
	}
}

func (r *textRenderer) table(t table) {
	sizes := t.sizes()
	r.shrink(t, sizes)
	head := make(row, len(t.columns))
	for i, c := range t.columns {
		head[i] = cell{c.head, faint}
	}
	r.row(t, head, sizes)
	for _, row := range t.rows {
		r.row(t, row, sizes)
	}
}

func (r *textRenderer) row(t table, cells row, sizes []int) {
	var line sentence
	for i, c := range cells {
		if i > 0 {
			line = append(line, cell{strings.Repeat(" ", t.gap()), plain})
		}
		s := clean(c.text)
		if t.columns[i].align == interval {
			est, rest := t.parts(i)
			a, b := split(s)
			if b != "" {
				s = padLeft(a, est) + " " + b
			} else if c.tone != faint || a == none {
				s = padLeft(a, max(est, sizes[i]-rest-est))
			}
		}
		s = clip(s, sizes[i])
		if t.columns[i].align == right {
			s = padLeft(s, sizes[i])
		}
		line = append(line, cell{padRight(s, sizes[i]), c.tone})
	}
	r.line(indent, line)
}

// line writes one line without trailing spaces, never wider than the report.
func (r *textRenderer) line(indent string, s sentence) {
	s = trimRight(s)
	if len(s) > 0 {
		r.out.WriteString(indent)
	}
	left := r.width - len(indent)
	for _, c := range s {
		c.text = clip(c.text, left)
		left -= width(c.text)
		r.out.WriteString(r.paint(c))
	}
	r.out.WriteByte('\n')
	r.lines++
}

func trimRight(s sentence) sentence {
	s = slices.Clone(s)
	for len(s) > 0 {
		last := &s[len(s)-1]
		if last.text = strings.TrimRight(last.text, " "); last.text != "" {
			return s
		}
		s = s[:len(s)-1]
	}
	return s
}

// paint colours a piece of text. The codes are the eight colours that every
// terminal has, so that they follow its theme.
func (r *textRenderer) paint(c cell) string {
	codes := map[tone]string{strong: "1", faint: "2", bad: "31", good: "32", unsure: "33", calm: "32", broken: "1;31"}
	code, ok := codes[c.tone]
	if !r.color || !ok || strings.TrimSpace(c.text) == "" {
		return c.text
	}
	return "\x1b[" + code + "m" + c.text + "\x1b[0m"
}
