package report

import (
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/report/export"
)

// markdownRenderer prints a document in GitHub's Markdown.
type markdownRenderer struct {
	out strings.Builder
	in  Language
}

func (r *markdownRenderer) document(d Document) {
	r.in = d.in
	r.put("### ", r.sentence(plainly(d.title)), "\n\n")
	for _, s := range d.sections {
		r.section(s)
	}
}

func (r *markdownRenderer) section(s section) {
	if s.fold {
		r.open(s.title)
	} else if s.title != "" {
		r.put("#### ", export.MarkdownLine(escape(s.title)), "\n\n")
		if s.about != "" {
			r.put(export.MarkdownLine(escape(s.about)), "\n\n")
		}
	}
	open := false
	for i, b := range s.blocks {
		if i > 0 && !s.fold && b.title != "" { // a block without a title belongs to the one before
			if open {
				r.put("</details>\n\n")
			}
			r.open(b.title)
			open = true
		}
		r.block(b)
	}
	if open || s.fold {
		r.put("</details>\n\n")
	}
}

func (r *markdownRenderer) open(title string) {
	r.put("<details><summary>", export.HTML(title), "</summary>\n\n")
}

func (r *markdownRenderer) block(b block) {
	for _, it := range b.items {
		r.put("- ")
		if it.label.text != "" && !it.mark() {
			r.put("**", escape(it.label.text), "**", r.in.mark("join.colon"))
		}
		r.put(r.sentence(it.text), "\n")
	}
	if len(b.items) > 0 {
		r.put("\n")
	}
	for _, l := range b.listings {
		r.put(r.sentence(l.title), "\n\n```\n")
		for _, line := range l.lines {
			r.put(strings.ReplaceAll(export.Clean(line), "```", "'''"), "\n")
		}
		r.put("```\n\n")
	}
	for _, t := range b.tables {
		r.table(t)
		r.notes(r.in.legend(b.notes, t))
	}
	r.notes(b.notes)
}

func (r *markdownRenderer) notes(notes []sentence) {
	for _, n := range notes {
		r.put("- ", r.sentence(n), "\n")
	}
	if len(notes) > 0 {
		r.put("\n")
	}
}

func (r *markdownRenderer) table(t table) {
	heads, rules := make([]string, len(t.columns)), make([]string, len(t.columns))
	for i, c := range t.columns {
		heads[i], rules[i] = strings.TrimSpace(escape(c.head+string(c.mark))), "---"
		if c.align != left {
			rules[i] = "---:"
		}
	}
	r.put("| ", strings.Join(heads, " | "), " |\n|", strings.Join(rules, "|"), "|\n")
	for _, row := range t.rows {
		cells := make([]string, len(row))
		for i, c := range row {
			f := c.figure()
			cells[i] = strings.TrimSpace(r.piece(cell{f.whole(), f.tone}, bad, good, broken))
		}
		r.put("| ", strings.Join(cells, " | "), " |\n")
	}
	r.put("\n")
}

func (r *markdownRenderer) sentence(s sentence) string {
	var b strings.Builder
	for _, c := range s {
		if c == lineBreak {
			b.WriteString("<br>")
			continue
		}
		b.WriteString(r.piece(c, bad, good, unsure, broken))
	}
	return export.MarkdownLine(strings.TrimSpace(b.String()))
}

// piece sets in bold what a reader must not miss, the tones given.
func (r *markdownRenderer) piece(c cell, stress ...tone) string {
	s := escape(c.text)
	core := strings.TrimSpace(s)
	switch {
	case core == "":
		return s
	case c.tone == code:
		return "`" + strings.ReplaceAll(export.Clean(c.text), "`", "'") + "`"
	case slices.Contains(stress, c.tone):
		return strings.Replace(s, core, "**"+core+"**", 1)
	}
	return s
}

func plainly(s sentence) sentence {
	return say(s.String())
}

// escape keeps names and reasons from being read as Markdown or HTML.
func escape(s string) string {
	return export.Markdown(s)
}

func (r *markdownRenderer) put(parts ...string) {
	for _, p := range parts {
		r.out.WriteString(p)
	}
}
