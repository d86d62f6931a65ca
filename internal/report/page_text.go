package report

import (
	"html/template"
	"strings"

	"github.com/tarelab/tare/internal/report/export"
)

// toneClass are the classes of the style sheet.
var toneClass = map[tone]string{
	more: "more", fewer: "fewer",
	strong: "strong", faint: "faint", bad: "bad", good: "good", unsure: "unsure", calm: "calm", broken: "broken",
}

// sentenceHTML prints a sentence. Names and reasons in it come from files,
// tools and kernels.
func sentenceHTML(s sentence) template.HTML {
	var b strings.Builder
	for _, c := range s {
		text := template.HTMLEscapeString(glue(export.Clean(c.text)))
		class := toneClass[c.tone]
		switch {
		case c == lineBreak:
			b.WriteString("<br>")
		case text == "":
		case c.tone == code:
			b.WriteString("<code>" + text + "</code>")
		case class != "":
			b.WriteString(`<span class="` + class + `">` + text + "</span>")
		default:
			b.WriteString(text)
		}
	}
	return template.HTML(b.String())
}

// wideTable is the number of columns above which a table does not fit a
// telephone.
const wideTable = 4

// tableHTML prints a table that scrolls by itself where it is too wide; about
// names it for those who do not see it.
func tableHTML(about string, t table) template.HTML {
	var b strings.Builder
	about = template.HTMLEscapeString(export.Clean(about))
	if len(t.columns) > wideTable {
		b.WriteString(`<p class="hint">` + template.HTMLEscapeString(text("page.hint")) + "</p>")
	}
	b.WriteString(`<div class="scroll" tabindex="0" role="region" aria-label="` + about + `"><table><thead><tr>`)
	for i, c := range t.columns {
		b.WriteString(`<th scope="col"` + alignClass(c.align, "") + ">")
		if head := template.HTMLEscapeString(strings.TrimSpace(export.Clean(c.head))); head != "" || i > 0 {
			b.WriteString(head)
		}
		b.WriteString("</th>")
	}
	b.WriteString("</tr></thead><tbody>")
	for _, r := range t.rows {
		b.WriteString("<tr>")
		for i, c := range r {
			name := "td"
			if i == 0 {
				name = `th scope="row"`
			}
			class := toneClass[c.tone]
			if strings.HasPrefix(c.text, "  ") {
				class += " inner"
			}
			b.WriteString("<" + name + alignClass(t.columns[i].align, class) + ">")
			b.WriteString(template.HTMLEscapeString(strings.TrimSpace(export.Clean(c.text))))
			b.WriteString("</" + name[:2] + ">")
		}
		b.WriteString("</tr>")
	}
	b.WriteString("</tbody></table></div>")
	return template.HTML(b.String())
}

func alignClass(a align, class string) string {
	if a != left {
		class = strings.TrimSpace("num " + class)
	}
	if class = strings.TrimSpace(class); class == "" {
		return ""
	}
	return ` class="` + class + `"`
}

// blockHTML prints sentences with their labels, the best form of a table, and
// notes.
func blockHTML(about string, v block) template.HTML {
	var b strings.Builder
	if len(v.items) > 0 {
		b.WriteString(`<dl class="items">`)
		for i, it := range v.items {
			label := template.HTMLEscapeString(export.Clean(it.label.text))
			if it.mark() {
				label = ""
			}
			again := i > 0 && it.label == v.items[i-1].label && label != ""
			switch {
			case label == "":
				b.WriteString(`<dd class="wide">`)
			case again:
				b.WriteString("<dd>")
			default:
				b.WriteString("<dt>" + label + "</dt><dd>")
			}
			b.WriteString(string(sentenceHTML(it.text)) + "</dd>")
		}
		b.WriteString("</dl>")
	}
	if len(v.forms) > 0 {
		for _, t := range v.forms[0] {
			b.WriteString(string(tableHTML(about, t)))
		}
	}
	b.WriteString(string(notesHTML(v.notes)))
	return template.HTML(b.String())
}

// Shown says that a block has something to show, and Heading is its title.
func (b block) Shown() bool     { return !b.empty() }
func (b block) Heading() string { return upper(export.Clean(b.title)) }

// cleanLines is clean for a text of many lines.
func cleanLines(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\t", "    "), "\n")
	for i, l := range lines {
		lines[i] = export.Clean(l)
	}
	return strings.Join(lines, "\n")
}

func notesHTML(notes []sentence) template.HTML {
	if len(notes) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(`<ul class="notes">`)
	for _, n := range notes {
		b.WriteString("<li>" + string(sentenceHTML(n)) + "</li>")
	}
	b.WriteString("</ul>")
	return template.HTML(b.String())
}
