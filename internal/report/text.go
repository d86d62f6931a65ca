package report

import (
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/report/export"
)

// textRenderer prints a document for a terminal of a given width.
type textRenderer struct {
	out   strings.Builder
	in    Language
	lines int
	width int
	color bool
}

const (
	indent = "  "
	gap    = 2 // between labels and texts
)

func (r *textRenderer) document(d Document) {
	r.in = d.in
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
	name := clip(export.Clean(s.title), r.width-6)
	h := sentence{{"── ", faint}, {name, strong}, {" ", plain}}
	left := r.width - Width(name) - 4
	if about := clip(export.Clean(s.about), left-6); about != "" {
		h = append(h, cell{"── ", faint}, cell{about + " ", plain})
		left -= Width(about) + 4
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
	for _, l := range b.listings {
		r.listing(l)
	}
	if r.tables(b.tables, b.notes) && len(b.notes) > 0 {
		r.line("", nil)
	}
	r.notes(b.notes)
}

func (r *textRenderer) notes(notes []sentence) {
	for _, n := range notes {
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
		labels = max(labels, Width(export.Clean(it.label.text)))
	}
	labels = min(labels, r.width/3)
	for i, it := range items {
		label := clipMiddle(export.Clean(it.label.text), labels)
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
				head = sentence{{label, it.label.tone}, {strings.Repeat(" ", hang-Width(label)), plain}}
			}
			r.line(indent, append(head, l...))
		}
	}
}

// listing prints lines as they are, also those that are wider than the report.
func (r *textRenderer) listing(l listing) {
	for _, line := range wrap(l.title, r.width-len(indent)) {
		r.line(indent, line)
	}
	for _, line := range l.lines {
		r.out.WriteString(strings.TrimRight(indent+indent+export.Clean(line), " ") + "\n")
		r.lines++
	}
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
		left -= Width(c.text)
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
	codes := map[tone]string{strong: "1", faint: "2", bad: "31", good: "32", unsure: "33", calm: "32", broken: "1"}
	code, ok := codes[c.tone]
	if !r.color || !ok || strings.TrimSpace(c.text) == "" {
		return c.text
	}
	return "\x1b[" + code + "m" + c.text + "\x1b[0m"
}
