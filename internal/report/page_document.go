package report

import (
	"html/template"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/report/export"
)

// htmlRenderer prints documents and parts of them as HTML.
type htmlRenderer struct {
	in    Language
	out   strings.Builder
	known glossaryWords
	told  map[messages.Key]bool // words explained in this part
	used  map[messages.Key]bool // words explained anywhere on the page
}

// part is what fill prints. Each part explains its words anew.
func (r *htmlRenderer) part(fill func()) template.HTML {
	r.out.Reset()
	r.told = map[messages.Key]bool{}
	fill()
	return template.HTML(r.out.String()) //nolint:gosec // every text went through EscapeString
}

// toneClass are the classes of the style sheet.
var toneClass = map[tone]string{
	strong: "strong", faint: "faint", bad: "bad", good: "good", unsure: "unsure", calm: "calm", broken: "broken",
}

func (r *htmlRenderer) put(parts ...string) {
	for _, p := range parts {
		r.out.WriteString(p)
	}
}

// element is an element with a text.
func (r *htmlRenderer) element(name, class, s string) {
	r.put("<", name, classes(class), ">")
	r.words(s)
	r.put("</", name, ">")
}

func classes(names ...string) string {
	if class := strings.TrimSpace(strings.Join(names, " ")); class != "" {
		return ` class="` + class + `"`
	}
	return ""
}

func (r *htmlRenderer) document(d Document) {
	r.put("<h1>")
	r.sentence(d.title)
	r.put("</h1>")
	for _, s := range d.sections {
		r.section(s)
	}
}

// section folds its further blocks, as Markdown does.
func (r *htmlRenderer) section(s section) {
	if s.title != "" {
		r.element("h3", "", r.in.heading(s.title))
	}
	if s.about != "" {
		r.element("p", "faint", r.in.heading(s.about))
	}
	for i, b := range s.blocks {
		if b.empty() {
			continue
		}
		if i == 0 {
			r.block(b)
			continue
		}
		title := b.title
		b.title = ""
		r.fold(title, func() { r.block(b) })
	}
}

func (r *htmlRenderer) fold(title string, fill func()) {
	r.put("<details><summary>")
	r.words(r.in.heading(title))
	r.put("</summary>")
	fill()
	r.put("</details>")
}

func (r *htmlRenderer) block(b block) {
	if b.empty() {
		return
	}
	if b.title != "" {
		r.element("h4", "", r.in.heading(b.title))
	}
	r.items(b.items)
	for _, l := range b.listings {
		r.put("<p>")
		r.sentence(l.title)
		r.put("</p><pre>")
		for _, line := range l.lines {
			r.put(template.HTMLEscapeString(export.Clean(line)), "\n")
		}
		r.put("</pre>")
	}
	for _, t := range b.tables {
		r.table(b.title, t)
		r.notes(r.in.legend(b.notes, t))
	}
	r.notes(b.notes)
}

// items are paragraphs where they have no label, else a list of labels and texts.
func (r *htmlRenderer) items(items []item) {
	items = sharing(items)
	list := false
	for i, it := range items {
		labelled := it.label.text != "" && !it.mark()
		if list && !labelled {
			r.put("</dl>")
		}
		if labelled && !list {
			r.put(`<dl class="items">`)
		}
		list = labelled
		switch {
		case !labelled:
			class := ""
			if it.mark() {
				class = "marked"
			}
			r.put("<p", classes(class), ">")
			r.sentence(it.text)
			r.put("</p>")
			continue
		case i == 0 || it.label != items[i-1].label:
			r.element("dt", "", it.label.text)
		}
		r.put("<dd>")
		r.sentence(it.text)
		r.put("</dd>")
	}
	if list {
		r.put("</dl>")
	}
}

// sharing joins neighbours with a mark whose remedy, on the lines behind the first, is the same.
func sharing(items []item) (joined []item) {
	for _, it := range items {
		if n := len(joined) - 1; n >= 0 && it.mark() && joined[n].mark() {
			before, what := joined[n].text, firstLine(it.text)
			remedy := it.text[len(what):]
			if from := len(before) - len(remedy); len(remedy) > 0 && from > 0 && slices.Equal(before[from:], remedy) {
				joined[n].text = slices.Concat(before[:from], sentence{lineBreak}, it.text)
				continue
			}
		}
		joined = append(joined, it)
	}
	return joined
}

func (r *htmlRenderer) notes(notes []sentence) {
	if len(notes) == 0 {
		return
	}
	r.put(`<ul class="notes">`)
	for _, n := range notes {
		r.put("<li>")
		r.sentence(n)
		r.put("</li>")
	}
	r.put("</ul>")
}

// sentence prints names and reasons from files, tools and kernels too.
func (r *htmlRenderer) sentence(s sentence) {
	for _, c := range s {
		switch class := toneClass[c.tone]; {
		case c == lineBreak:
			r.put("<br>")
		case c.text == "":
		case c.tone == code:
			r.put("<code>", template.HTMLEscapeString(export.Clean(c.text)), "</code>")
		case class != "":
			r.element("span", class, c.text)
		default:
			r.words(c.text)
		}
	}
}

// Tables that do not fit a telephone: one of few rows puts its cells below each other there, one of many
// scrolls by itself.
const (
	phoneSigns = 44 // signs that fit beside each other
	fewRows    = 8
)

// table names itself for those who do not see it.
func (r *htmlRenderer) table(about string, t table) {
	signs := 0
	for i, c := range t.columns {
		most := Width(c.head)
		for _, row := range t.rows {
			most = max(most, Width(row[i].figure().whole()))
		}
		signs += most + 2
	}
	class := ""
	if signs > phoneSigns && len(t.rows) <= fewRows {
		class = "cards"
	}
	r.put(`<div class="scroll" tabindex="0" role="region" aria-label="`, template.HTMLEscapeString(export.Clean(about)), `"><table`, classes(class), "><thead><tr>")
	for i, c := range t.columns {
		name := "th"
		if i == 0 && strings.TrimSpace(c.head) == "" {
			name = "td"
		}
		r.cell(name, ` scope="col"`, c.align, figure{cell: cell{text: c.head}, mark: c.mark}, "")
	}
	r.put("</tr></thead><tbody>")
	for _, row := range t.rows {
		r.put("<tr>")
		for i, c := range row {
			if i == 0 {
				r.cell("th", ` scope="row"`, t.columns[i].align, c.figure(), "")
			} else {
				r.cell("td", "", t.columns[i].align, c.figure(), t.columns[i].head)
			}
		}
		r.put("</tr>")
	}
	r.put("</tbody></table></div>")
}

func (r *htmlRenderer) cell(name, scope string, a align, c figure, head string) {
	class := toneClass[c.tone]
	if a != left {
		class = "num " + class
	}
	if strings.HasPrefix(c.text, "  ") {
		class += " inner"
	}
	r.put("<", name, scope, classes(class))
	if head = strings.TrimSpace(export.Clean(head)); head != "" {
		r.put(` data-head="`, template.HTMLEscapeString(head), `"`)
	}
	r.put(">")
	r.words(strings.TrimSpace(c.whole()))
	r.put("</", name, ">")
}

// figure is a chart with its title and its legend.
func (r *htmlRenderer) figure(title string, drawing template.HTML, legend ...string) {
	r.put("<figure>")
	r.element("h3", "", title)
	r.put(string(drawing), "<figcaption>")
	for _, s := range legend {
		if s != "" {
			r.element("p", "", s)
		}
	}
	r.put("</figcaption></figure>")
}

// words prints a text and explains, once in a part, the words that a reader may not know.
func (r *htmlRenderer) words(s string) {
	s = glue(export.Clean(s))
	for {
		at := r.known.any.FindStringIndex(s)
		if at == nil {
			r.put(template.HTMLEscapeString(s))
			return
		}
		word := s[at[0]:at[1]]
		r.put(template.HTMLEscapeString(s[:at[0]]))
		key := r.known.key[word]
		if r.told[key] {
			r.put(word)
		} else {
			r.put(`<abbr title="`, template.HTMLEscapeString(r.in.heading(r.known.means[key])), `">`, word, "</abbr>")
			r.told[key], r.used[key] = true, true
		}
		s = s[at[1]:]
	}
}

// glossaryKeys are the words that a page explains. Each message is the forms of a word, and what it
// means behind a colon.
var glossaryKeys = []messages.Key{
	"explain.baseline", "explain.block", "explain.carryover", "explain.cpu", "explain.discard", "explain.halves", "explain.invalid",
	"explain.launch", "explain.margin", "explain.noise", "explain.noloss", "explain.order", "explain.p50", "explain.p95", "explain.p99",
	"explain.remainder", "explain.steal", "explain.transparency", "explain.twin", "explain.undecided", "explain.window",
}

type glossaryWords struct {
	any   *regexp.Regexp
	key   map[string]messages.Key // by form
	forms map[messages.Key]string
	means map[messages.Key]string
}

// glossary is the words that a page explains, in the language.
func (in Language) glossary() glossaryWords {
	g := glossaryWords{key: map[string]messages.Key{}, forms: map[messages.Key]string{}, means: map[messages.Key]string{}}
	var all []string
	for _, key := range glossaryKeys {
		forms, meaning, _ := strings.Cut(in.text(key), ": ")
		g.forms[key], g.means[key] = forms, meaning
		for _, form := range strings.Split(forms, ", ") {
			g.key[form] = key
			all = append(all, wholeWord(form))
		}
	}
	slices.SortStableFunc(all, func(a, b string) int { return len(b) - len(a) }) // the longer word where two begin alike
	g.any = regexp.MustCompile(strings.Join(all, "|"))
	return g
}

// wholeWord matches a form that is no part of a longer word; Chinese has no spaces between words.
func wholeWord(form string) string {
	if Width(form) > utf8.RuneCountInString(form) {
		return regexp.QuoteMeta(form)
	}
	return `\b` + regexp.QuoteMeta(form) + `\b`
}

// explained lists the words that the page has explained, for readers without a pointer.
func (r *htmlRenderer) explained() {
	r.put(`<dl class="items">`)
	for _, key := range glossaryKeys {
		if r.used[key] {
			r.put("<dt>", r.known.forms[key], "</dt><dd>", template.HTMLEscapeString(r.in.stop(r.in.heading(r.known.means[key])).String()), "</dd>")
		}
	}
	r.put("</dl>")
}
